#include <gtest/gtest.h>

#include <thread>

#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "support/postgres_server.hpp"

// Policies are stored and read on connections of the pool: the pool's size limits the connections
// of a store (G-17).

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;

class PolicyCacheTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(OpenPostgres(schema_.Options()));  // creates the schema
        schema_.Run("CREATE ROLE " + schema_.name() + " LOGIN IN ROLE ksana");
    }
    void TearDown() override { schema_.Run("DROP ROLE " + schema_.name()); }

    // Opens a store whose user may have only the one connection of its pool.
    std::unique_ptr<store::Store> Open() {
        // The migration needs a second one.
        schema_.Run("ALTER ROLE " + schema_.name() + " CONNECTION LIMIT 2");
        PostgresOptions options = schema_.Options();
        options.url.replace(options.url.find("ksana@"), 5, schema_.name());
        options.pool_size = 1;
        options.listen = false;
        options.call_timeout = std::chrono::seconds(5);
        auto backend = OpenPostgres(options);
        EXPECT_TRUE(backend) << backend.error().Describe();
        schema_.Run("ALTER ROLE " + schema_.name() + " CONNECTION LIMIT 1");
        AwaitOneConnection();
        return store_kit::MakeStore(std::move(*backend), ids_);
    }

    void AwaitOneConnection() {
        for (;;) {
            const Rows rows = schema_.Run(
                "SELECT count(*) FROM pg_stat_activity WHERE usename = '" + schema_.name() + "'");
            if (RowReader(rows, 0).Int64() <= 1) return;
            std::this_thread::yield();
        }
    }

    model::Run MakeRun(int timeout) {
        model::Run run;
        run.id = ids_.Next();
        run.type = "mail";
        run.policy.timeout = std::chrono::seconds(timeout);
        return run;
    }

    PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
};

TEST_F(PolicyCacheTest, NewPoliciesTakeNoFurtherConnection) {
    const std::vector<model::Run> runs = {MakeRun(1), MakeRun(2), MakeRun(1)};
    model::Run keyed = MakeRun(3);
    keyed.unique.key = "k";  // not gathered: a key needs a transaction of its own
    {
        const auto store = Open();
        const auto outcome = store->runs().Submit({.runs = runs});
        ASSERT_TRUE(outcome) << outcome.error().Describe();
        const auto alone = store->runs().Submit({.runs = {keyed}});
        ASSERT_TRUE(alone) << alone.error().Describe();
    }
    const auto store = Open();  // with an empty cache
    for (const model::Run& run : {runs[0], runs[1], runs[2], keyed}) {
        const auto history = store->runs().Get(run.id);
        ASSERT_TRUE(history) << history.error().Describe();
        EXPECT_EQ(history->run.policy, run.policy);
    }
    const auto claimed = store->runs().Claim({.owner = "w", .limit = 10}, std::nullopt);
    ASSERT_TRUE(claimed) << claimed.error().Describe();
    EXPECT_EQ(claimed->runs.size(), 4U);
    const Rows rows = schema_.Run("SELECT count(*) FROM ksana.policies");
    EXPECT_EQ(RowReader(rows, 0).Int64(), 3);
}

// Many threads store the same new policies at once.
TEST_F(PolicyCacheTest, EachPolicyIsStoredOnce) {
    auto backend = OpenPostgres(schema_.Options());
    ASSERT_TRUE(backend) << backend.error().Describe();
    const auto store = store_kit::MakeStore(std::move(*backend), ids_);
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 8; ++i) {
        crowd.emplace_back([&] {
            for (int timeout = 1; timeout <= 40; timeout += 2) {
                const auto outcome =
                    store->runs().Submit({.runs = {MakeRun(timeout), MakeRun(timeout + 1)}});
                EXPECT_TRUE(outcome) << outcome.error().Describe();
            }
        });
    }
    crowd.clear();
    const Rows rows =
        schema_.Run("SELECT count(*), (SELECT count(*) FROM ksana.runs) FROM ksana.policies");
    EXPECT_EQ(RowReader(rows, 0).Int64(), 40);
    EXPECT_EQ(RowReader(rows, 0, 1).Int64(), 8 * 40);
}

}  // namespace
}  // namespace ksana::store_postgres

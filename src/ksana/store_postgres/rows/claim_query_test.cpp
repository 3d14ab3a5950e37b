#include "ksana/store_postgres/rows/claim_query.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "support/postgres_server.hpp"

// Which runs a claim of several types takes, and which it leaves to other claims.

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using store_kit::Transaction;

class ClaimQueryTest : public ::testing::Test {
  protected:
    void SetUp() override {
        for (auto* backend : {&one_, &two_}) {
            auto opened = OpenPostgres(schema_.Options());
            ASSERT_TRUE(opened) << opened.error().Describe();
            *backend = std::move(*opened);
        }
        const auto inserted = one_->Write([&](Transaction& tx) -> Result<void> {
            KSANA_TRY_VOID(tx.InsertRuns(store_kit::RefsTo(runs_)));
            return {};
        });
        ASSERT_TRUE(inserted) << inserted.error().Describe();
    }

    // Ten runs of each type, in turn.
    std::vector<model::Run> MakeRuns() {
        std::vector<model::Run> runs(30);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            runs[i].id = ids_.Next();
            runs[i].type = std::string(1, static_cast<char>('a' + i % 3));
            runs[i].status.state = model::RunState::kQueued;
            runs[i].status.ready_at = TimePoint(std::chrono::seconds(i));
        }
        return runs;
    }

    // Returns the indexes in `runs_` of the runs that this filter locks.
    using Places = std::vector<std::size_t>;
    Result<Places> Lock(Transaction& tx, const store::ClaimFilter& filter, std::size_t limit) {
        KSANA_TRY(const auto locked, tx.LockReady(filter, TimePoint{}, limit));
        Places places;
        for (const model::Run& run : locked) {
            const auto found = std::ranges::find(runs_, run.id, &model::Run::id);
            places.push_back(static_cast<std::size_t>(found - runs_.begin()));
        }
        return places;
    }

    PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    const std::vector<model::Run> runs_ = MakeRuns();
    std::unique_ptr<store_kit::Backend> one_;
    // Like another process: does not know what `one_` holds.
    std::unique_ptr<store_kit::Backend> two_;
};

TEST_F(ClaimQueryTest, LocksNoMoreThanItGives) {
    for (const std::vector<std::string>& types :
         {std::vector<std::string>{}, std::vector<std::string>{"a", "b", "c"}}) {
        const auto done = one_->Write([&](Transaction& tx) -> Result<void> {
            KSANA_TRY(const Places first, Lock(tx, {.types = types}, 6));
            EXPECT_EQ(first, (Places{0, 1, 2, 3, 4, 5}));
            return two_->Write([&](Transaction& other) -> Result<void> {
                KSANA_TRY(const Places next, Lock(other, {.types = types}, 4));
                EXPECT_EQ(next, (Places{6, 7})) << "eight were looked at";
                KSANA_TRY(const Places rest, Lock(other, {.types = {"a"}}, 100));
                EXPECT_EQ(rest.size(), 10U - 2U - 1U) << "all but those that were given";
                return {};
            });
        });
        EXPECT_TRUE(done) << done.error().Describe();
    }
}

// The column is NULL where no run of a batch has a category.
TEST_F(ClaimQueryTest, NoCategoryIsOne) {
    for (const std::vector<std::string>& types : {std::vector<std::string>{"a"}, {"a", "b"}, {}}) {
        const auto done = one_->Write([&](Transaction& tx) -> Result<void> {
            KSANA_TRY(const Places places, Lock(tx, {.types = types, .categories = {"x", ""}}, 5));
            EXPECT_EQ(places.size(), 5U);
            KSANA_TRY(const Places none, Lock(tx, {.types = types, .categories = {"x"}}, 5));
            EXPECT_EQ(none, Places{});
            return {};
        });
        EXPECT_TRUE(done) << done.error().Describe();
    }
}

}  // namespace
}  // namespace ksana::store_postgres

#include "ksana/store_postgres/change_notices.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"

#include <gtest/gtest.h>

#include "ksana/store_postgres/open_postgres.hpp"
#include "support/postgres_server.hpp"

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using store::Topic;
using store::Topics;

// Collects the topics that a feed has published. Thread-safe.
class Ear {
  public:
    explicit Ear(store_kit::Backend& backend)
        : subscription_(backend.changes().Subscribe(Topics::All(), [this](Topics topics) {
              const MutexLock lock(mutex_);
              heard_ |= topics;
              changed_.NotifyAll();
          })) {}

    // Returns whether all `topics` were published within 10 s.
    bool Hears(Topics topics) {
        MutexLock lock(mutex_);
        return changed_.WaitFor(lock, std::chrono::seconds(10), [&]() KSANA_REQUIRES(mutex_) {
            return (heard_ & topics) == topics;
        });
    }
    Topics Forget() {
        const MutexLock lock(mutex_);
        return std::exchange(heard_, {});
    }

  private:
    Mutex mutex_;
    CondVar changed_;
    Topics heard_ KSANA_GUARDED_BY(mutex_);
    store::ChangeFeed::Subscription subscription_;
};

Result<void> Touch(store_kit::Backend& backend, Topics topics) {
    return backend.Write([&](store_kit::Transaction& tx) -> Result<void> {
        tx.Touch(topics);
        return {};
    });
}

TEST(ChangeNoticesTest, NodesHearOfEachOther) {
    PostgresSchema schema;
    auto one = OpenPostgres(schema.Options());
    ASSERT_TRUE(one) << one.error().Describe();
    auto other = OpenPostgres(schema.Options());
    ASSERT_TRUE(other);
    Ear own(**one);
    Ear far(**other);
    ASSERT_TRUE(Touch(**one, Topic::kReady | Topic::kJobs));
    EXPECT_EQ(own.Forget(), Topic::kReady | Topic::kJobs);  // at once
    EXPECT_TRUE(far.Hears(Topic::kReady | Topic::kJobs));
    // A notice from the other node arrives later than this node's own notice would: the own notice
    // was skipped.
    ASSERT_TRUE(Touch(**other, Topic::kEvents));
    EXPECT_TRUE(own.Hears(Topic::kEvents));
    EXPECT_EQ(own.Forget(), Topics(Topic::kEvents));
}

TEST(ChangeNoticesTest, AfterAGapEverythingMayHaveChanged) {
    PostgresSchema schema;
    PostgresOptions options = schema.Options();
    options.url += "?application_name=" + schema.name();
    auto backend = OpenPostgres(options);
    ASSERT_TRUE(backend) << backend.error().Describe();
    Ear ear(**backend);
    schema.Run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '" +
               schema.name() + "'");
    EXPECT_TRUE(ear.Hears(Topics::All()));
    EXPECT_TRUE(Touch(**backend, Topic::kReady));
}

TEST(ChangeNoticesTest, WithoutListeningOnlyTheLocalFeedIsTold) {
    PostgresSchema schema;
    PostgresOptions options = schema.Options();
    options.listen = false;
    auto backend = OpenPostgres(options);
    ASSERT_TRUE(backend);
    Ear ear(**backend);
    ASSERT_TRUE(Touch(**backend, Topic::kReady));
    EXPECT_EQ(ear.Forget(), Topics(Topic::kReady));
}

}  // namespace
}  // namespace ksana::store_postgres

#include "ksana/store_kit/group_commit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <utility>

namespace ksana::store_kit {
namespace {

// A transaction that no body of these tests uses.
class IdleTransaction final : public Transaction {
  public:
    Result<TimePoint> Now() override { return Unused(); }
    Result<std::vector<model::Job>> Jobs(const std::vector<std::string>&) override {
        return Unused();
    }
    Result<std::vector<model::Run>> Runs(const std::vector<Uuid>&) override { return Unused(); }
    Result<std::vector<model::Attempt>> Attempts(const std::vector<Uuid>&) override {
        return Unused();
    }
    Result<ListedJobs> ListJobs(const JobList&) override { return Unused(); }
    Result<store::Counted> CountJobs(const JobList&, std::int64_t) override { return Unused(); }
    Result<ListedRuns> ListRuns(const RunList&) override { return Unused(); }
    Result<store::Counted> CountRuns(const RunList&, std::int64_t) override { return Unused(); }
    Result<std::vector<model::LedgerEntry>> ListLedger(const LedgerList&) override {
        return Unused();
    }
    Result<std::vector<model::AuditEvent>> ListEvents(const EventList&) override {
        return Unused();
    }
    Result<std::vector<model::Document>> ListDocuments(const DocumentList&) override {
        return Unused();
    }
    Result<std::optional<model::Run>> FindFire(const std::string&, TimePoint) override {
        return Unused();
    }
    Result<std::vector<store::RunSample>> Samples(const store::StatisticsParams&,
                                                  std::size_t) override {
        return Unused();
    }
    Result<std::vector<store::QueueDepth>> Depths() override { return Unused(); }
    Result<store::WakeTimes> NextWake() override { return Unused(); }
    Result<store::RecordCounts> Counts() override { return Unused(); }
    Result<std::vector<std::string>> DependantsOf(const std::string&) override { return Unused(); }
    Result<std::vector<store::GroupSize>> Groups(const store::GroupQuery&) override {
        return Unused();
    }
    Result<std::vector<model::Job>> LockJobs(const std::vector<std::string>&) override {
        return Unused();
    }
    Result<std::vector<model::Job>> LockDueJobs(TimePoint, std::size_t) override {
        return Unused();
    }
    Result<std::vector<bool>> InsertJobs(const std::vector<model::Job>&) override {
        return Unused();
    }
    Result<void> UpdateJobs(const std::vector<model::Job>&) override { return Unused(); }
    Result<void> UpdatePlans(const std::vector<model::Job>&) override { return Unused(); }
    Result<void> AddTallies(const std::vector<model::JobTally>&) override { return Unused(); }
    Result<void> DeleteJob(const std::string&) override { return Unused(); }
    Result<std::vector<model::Run>> LockRuns(const std::vector<Uuid>&) override { return Unused(); }
    Result<void> MakeDue(TimePoint, std::size_t) override { return Unused(); }
    Result<std::vector<model::Run>> LockReady(const store::ClaimFilter&, TimePoint,
                                              std::size_t) override {
        return Unused();
    }
    Result<std::vector<model::Run>> LockExpired(TimePoint, std::size_t) override {
        return Unused();
    }
    Result<std::vector<model::Run>> LockOwned(const std::vector<std::string>&,
                                              std::size_t) override {
        return Unused();
    }
    Result<std::vector<OverlapCounts>> LockOverlapCounts(const std::vector<std::string>&) override {
        return Unused();
    }
    Result<std::vector<model::Run>> LockGated(const std::string&) override { return Unused(); }
    Result<std::optional<model::Run>> LockFirstBlocked(const std::string&) override {
        return Unused();
    }
    Result<std::vector<model::Run>> LockWronglyBlocked(std::size_t) override { return Unused(); }
    Result<std::vector<model::Run>> LockAwaiting(TimePoint, std::size_t) override {
        return Unused();
    }
    Result<void> UpdateDependants(const std::vector<model::Job>&) override { return Unused(); }
    Result<std::vector<model::Run>> LockUnstarted(const std::string&, std::size_t) override {
        return Unused();
    }
    Result<std::vector<bool>> InsertRuns(const RunRefs&) override { return Unused(); }
    Result<void> UpdateRuns(const RunRefs&) override { return Unused(); }
    Result<void> DeleteRuns(const RunRefs&) override { return Unused(); }
    Result<void> InsertAttempts(const std::vector<model::Attempt>&) override { return Unused(); }
    Result<std::size_t> PurgeRuns(const store::PurgeParams&) override { return Unused(); }
    Result<std::vector<std::optional<Uuid>>> TakeKeys(const std::vector<KeyClaim>&,
                                                      TimePoint) override {
        return Unused();
    }
    Result<void> FreeKeys(const std::vector<KeyClaim>&) override { return Unused(); }
    Result<void> InsertLedger(const std::vector<model::LedgerEntry>&) override { return Unused(); }
    Result<void> InsertEvents(const std::vector<model::AuditEvent>&) override { return Unused(); }
    Result<std::size_t> PurgeEvents(TimePoint, std::size_t) override { return Unused(); }
    Result<std::optional<model::Document>> LockDocument(const std::string&,
                                                        const std::string&) override {
        return Unused();
    }
    Result<void> PutDocument(const model::Document&) override { return Unused(); }
    Result<void> DeleteDocument(const std::string&, const std::string&) override {
        return Unused();
    }
    Result<std::size_t> PurgeDocuments(const std::string&, TimePoint, std::size_t) override {
        return Unused();
    }

  private:
    static Error Unused() { return {Code::kUnimplemented, "not in this test"}; }
};

// Bodies count instead of writing: Commit makes their sum `committed_`.
class CountingSession final : public CommitSession {
  public:
    Result<void> Begin() override {
        open_ = 0;
        ++begun_;
        return {};
    }
    Transaction& NextBody() override { return transaction_; }
    std::int64_t changes() const override { return changes_; }
    Result<void> Commit() override {
        if (fail_commits_ > 0) {
            --fail_commits_;
            return Error(Code::kExhausted, "disk full");
        }
        committed_ += open_;
        return {};
    }
    void Rollback() override { ++rolled_back_; }
    bool Maintain(bool /*idle*/) override { return false; }

    void Add(int count) {
        open_ += count;
        changes_ += count;
    }

    std::atomic<int> fail_commits_{0};
    std::atomic<int> committed_{0};
    std::atomic<int> begun_{0};
    std::atomic<int> rolled_back_{0};

  private:
    IdleTransaction transaction_;
    int open_ = 0;
    std::int64_t changes_ = 0;
};

class GroupCommitTest : public ::testing::Test {
  protected:
    GroupCommitTest() { EXPECT_TRUE(commit_->Start()); }

    Result<void> Add(int count) {
        return commit_->Run([this, count](Transaction&) -> Result<void> {
            session_.Add(count);
            return {};
        });
    }

    // Blocks the writer until `callers` calls wait, so that they share its batch.
    template <class F>
    void Together(int callers, const F& call) {
        std::latch inside(1);
        std::latch go(1);
        std::jthread first([&] {
            bool again = false;  // runs again with the others when one of them fails
            EXPECT_TRUE(commit_->Run([&](Transaction&) -> Result<void> {
                if (!std::exchange(again, true)) inside.count_down();
                go.wait();
                return {};
            }));
        });
        inside.wait();
        std::vector<std::jthread> threads;
        for (int i = 0; i < callers; ++i) threads.emplace_back([&call, i] { call(i); });
        while (commit_->waiting() < static_cast<std::size_t>(callers)) std::this_thread::yield();
        go.count_down();
    }

    CountingSession session_;
    store::ChangeFeed feed_;
    std::optional<GroupCommit> commit_{std::in_place, "test writer", session_, feed_};
};

TEST_F(GroupCommitTest, CallersShareACommit) {
    Together(10, [this](int) { EXPECT_TRUE(Add(1)); });
    EXPECT_EQ(session_.committed_, 10);
    EXPECT_EQ(session_.begun_, 1);
}

// Otherwise a caller that always comes back would keep the first from being committed.
TEST_F(GroupCommitTest, WhoComesWhileTheSecondOnesRunWaitsForTheNextCommit) {
    std::jthread third;
    Together(1, [&](int) {
        EXPECT_TRUE(commit_->Run([&](Transaction&) -> Result<void> {
            session_.Add(1);
            third = std::jthread([this] { EXPECT_TRUE(Add(1)); });
            while (commit_->waiting() == 0) std::this_thread::yield();
            return {};
        }));
    });
    third.join();
    EXPECT_EQ(session_.committed_, 2);
    EXPECT_EQ(session_.begun_, 2);
}

TEST_F(GroupCommitTest, ABodyThatChangedNothingNeedsNoRollback) {
    Together(10, [this](int i) {
        const auto result = commit_->Run([this, i](Transaction&) -> Result<void> {
            if (i % 2 == 0) return Error(Code::kConflict, "no");
            session_.Add(1);
            return {};
        });
        EXPECT_EQ(result.has_value(), i % 2 != 0);
    });
    EXPECT_EQ(session_.committed_, 5);
    EXPECT_EQ(session_.rolled_back_, 0);
}

TEST_F(GroupCommitTest, ABodyThatFailsLateIsTakenOutAndTheOthersRunAgain) {
    for (const int failing : {1, 20}) {
        const int before = session_.committed_;
        Together(40, [this, failing](int i) {
            const auto result = commit_->Run([this, i, failing](Transaction&) -> Result<void> {
                session_.Add(1);
                if (i < failing) return Error(Code::kConflict, "late");
                return {};
            });
            EXPECT_EQ(result.has_value(), i >= failing);
        });
        EXPECT_EQ(session_.committed_, before + 40 - failing);
    }
    EXPECT_GT(session_.rolled_back_, 0);
}

TEST_F(GroupCommitTest, AFailedCommitIsTheAnswerToAllAndTheNextOneWorks) {
    Together(5, [this](int i) {
        if (i == 0) session_.fail_commits_ = 0;
        (void)Add(1);
    });
    const int before = session_.committed_;
    session_.fail_commits_ = 1;
    const auto failed = Add(1);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::kExhausted);
    EXPECT_EQ(session_.committed_, before);
    EXPECT_TRUE(Add(1));
    EXPECT_EQ(session_.committed_, before + 1);
}

TEST_F(GroupCommitTest, ABatchIsBounded) {
    constexpr int kCallers = 600;
    Together(kCallers, [this](int) { EXPECT_TRUE(Add(1)); });
    EXPECT_EQ(session_.committed_, kCallers);
    EXPECT_EQ(session_.begun_, 2);
}

TEST_F(GroupCommitTest, TheEndFinishesWhatIsQueued) {
    Together(20, [this](int) { EXPECT_TRUE(Add(1)); });
    commit_.reset();
    EXPECT_EQ(session_.committed_, 20);
}

}  // namespace
}  // namespace ksana::store_kit

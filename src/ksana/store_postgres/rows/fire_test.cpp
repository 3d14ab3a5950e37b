#include <gtest/gtest.h>

#include <thread>

#include "ksana/store_postgres/backend_fixture.hpp"

// One run for each fire, across both tables of runs. None of these jobs exists, so there is no
// job_state row to lock.

namespace ksana::store_postgres {
namespace {

using store::SubmitVerdict;
using store_kit::Transaction;

class FireTest : public BackendTest {
  protected:
    model::Run MakeFire(int job = 0) {
        model::Run run = MakeRun();
        run.job_id = "gone" + std::to_string(job);
        run.nominal_at = TimePoint(std::chrono::hours(1));
        return run;
    }

    // Blocks until another connection of the store waits for a lock.
    void AwaitWaiting() {
        for (;;) {
            const Rows rows = schema_.Run(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND application_name = '" +
                schema_.name() + "'");
            if (RowReader(rows, 0).Int64() > 0) return;
            std::this_thread::yield();
        }
    }

    std::int64_t Count(const std::string& job_id) {
        const Rows rows = schema_.Run(
            "SELECT (SELECT count(*) FROM ksana.runs WHERE job_id = '" + job_id +
            "') + (SELECT count(*) FROM ksana.finished_runs WHERE job_id = '" + job_id + "')");
        return RowReader(rows, 0).Int64();
    }

    // Submits `again`, whose first run has the fire of a run that another transaction has ended but
    // not committed yet.
    void SubmitWhileEnding(const std::vector<model::Run>& again) {
        const model::Run known = MakeFire();
        ASSERT_TRUE(store_->runs().Submit({.runs = {known}}));
        std::jthread other;
        const auto ended = backend_->Write([&](Transaction& tx) -> Result<void> {
            KSANA_TRY(auto runs, tx.LockRuns({known.id}));
            runs[0].status.state = model::RunState::kSucceeded;
            runs[0].status.finished_at = TimePoint(std::chrono::hours(2));
            KSANA_TRY_VOID(tx.UpdateRuns(store_kit::RefsTo(runs)));
            KSANA_TRY([[maybe_unused]] const auto sent, tx.Runs({known.id}));
            other = std::jthread([&] {
                const auto outcome = store_->runs().Submit({.runs = again});
                ASSERT_TRUE(outcome) << outcome.error().Describe();
                EXPECT_EQ(outcome->at(0).verdict, SubmitVerdict::kSameFire);
                EXPECT_EQ(outcome->at(0).id, known.id);
                for (std::size_t i = 1; i < again.size(); ++i) {
                    EXPECT_EQ(outcome->at(i).verdict, SubmitVerdict::kStored);
                }
            });
            AwaitWaiting();
            return {};
        });
        EXPECT_TRUE(ended) << ended.error().Describe();
        other.join();
        EXPECT_EQ(Count(known.job_id), 1);
    }
};

TEST_F(FireTest, FireThatIsEndingIsNotNew) { SubmitWhileEnding({MakeFire()}); }

// More jobs than are locked one by one.
TEST_F(FireTest, ManyFiresOfWhichOneIsEnding) {
    std::vector<model::Run> runs;
    for (int job = 0; job < 200; ++job) runs.push_back(MakeFire(job));
    SubmitWhileEnding(runs);
}

// More jobs than the server could lock one by one for so many callers at once.
TEST_F(FireTest, ManyJobsFromManySides) {
    constexpr int kJobs = 5'000;
    std::vector<std::jthread> crowd;
    std::atomic<int> stored{0};
    for (int i = 0; i < 6; ++i) {
        crowd.emplace_back([&, i] {
            std::vector<model::Run> runs;
            for (int job = 0; job < kJobs; ++job) runs.push_back(MakeFire(i * kJobs + job));
            const auto outcome = store_->runs().Submit({.runs = runs});
            ASSERT_TRUE(outcome) << outcome.error().Describe();
            for (const auto& one : *outcome) {
                if (one.verdict == SubmitVerdict::kStored) ++stored;
            }
        });
    }
    crowd.clear();
    EXPECT_EQ(stored, 6 * kJobs);
}

}  // namespace
}  // namespace ksana::store_postgres

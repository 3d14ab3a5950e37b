#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "ksana/store_postgres/backend_fixture.hpp"

// Calls that arrive together share transactions (G1p); no caller can tell.

namespace ksana::store_postgres {
namespace {

using store::SubmitVerdict;
using store_kit::Transaction;

class AppendTest : public BackendTest {
  protected:
    std::int64_t Count() {
        const Rows rows = schema_.Run("SELECT count(*) FROM ksana.runs");
        return RowReader(rows, 0).Int64();
    }

    template <class F>
    static void OnThreads(int count, const F& body) {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < count; ++i) crowd.emplace_back([&body, i] { body(i); });
    }
};

// Every fourth call of each thread submits a run that exists already.
TEST_F(AppendTest, EveryCallerGetsItsOwnAnswer) {
    const model::Run known = MakeRun();
    ASSERT_TRUE(store_->runs().Submit({.runs = {known}}));
    constexpr int kThreads = 8;
    constexpr int kCalls = 40;
    OnThreads(kThreads, [&](int) {
        for (int i = 0; i < kCalls; ++i) {
            const bool repeats = i % 4 == 0;
            std::vector<model::Run> runs = {MakeRun(), repeats ? known : MakeRun()};
            const auto outcome = store_->runs().Submit({.runs = runs});
            ASSERT_TRUE(outcome) << outcome.error().Describe();
            EXPECT_EQ(outcome->at(0).verdict, SubmitVerdict::kStored);
            EXPECT_EQ(outcome->at(0).id, runs[0].id);
            EXPECT_EQ(outcome->at(1).verdict,
                      repeats ? SubmitVerdict::kSameId : SubmitVerdict::kStored);
        }
    });
    EXPECT_EQ(Count(), 1 + kThreads * (kCalls / 4) * (1 + 2 * 3));
}

// Many threads submit the same new run at once: exactly one of them stores it.
TEST_F(AppendTest, SameRunFromManyIsStoredOnce) {
    for (int round = 0; round < 10; ++round) {
        const model::Run run = MakeRun();
        std::atomic<int> stored{0};
        OnThreads(8, [&](int) {
            const auto outcome = store_->runs().Submit({.runs = {run}});
            ASSERT_TRUE(outcome) << outcome.error().Describe();
            EXPECT_EQ(outcome->at(0).id, run.id);
            if (outcome->at(0).verdict == SubmitVerdict::kStored) ++stored;
        });
        EXPECT_EQ(stored, 1);
    }
    EXPECT_EQ(Count(), 10);
}

// A finished run is in another table: a run with its id is not new, whatever other ids are in the
// call.
TEST_F(AppendTest, RunThatIsOverIsNotNew) {
    const model::Run known = MakeRun();
    ASSERT_TRUE(store_->runs().Submit({.runs = {MakeRun(), known, MakeRun()}}));
    const auto cancelled =
        store_->runs().Exchange({.events = {{known.id, {.kind = model::EventKind::kCancel}}}});
    ASSERT_TRUE(cancelled);
    ASSERT_EQ(cancelled->applied.at(0).state, model::RunState::kCancelled);
    const auto alone = store_->runs().Submit({.runs = {known}});
    ASSERT_TRUE(alone) << alone.error().Describe();
    EXPECT_EQ(alone->at(0).verdict, SubmitVerdict::kSameId);
    const auto among = store_->runs().Submit({.runs = {MakeRun(), known, MakeRun()}});
    ASSERT_TRUE(among) << among.error().Describe();
    EXPECT_EQ(among->at(0).verdict, SubmitVerdict::kStored);
    EXPECT_EQ(among->at(1).verdict, SubmitVerdict::kSameId);
    EXPECT_EQ(among->at(2).verdict, SubmitVerdict::kStored);
    const model::Run twice = MakeRun();
    const auto both = store_->runs().Submit({.runs = {twice, twice}});
    ASSERT_TRUE(both) << both.error().Describe();
    EXPECT_EQ(both->at(0).verdict, SubmitVerdict::kStored);
    EXPECT_EQ(both->at(1).verdict, SubmitVerdict::kSameId);
    EXPECT_EQ(Count(), 2 + 2 + 1);
}

TEST_F(AppendTest, FailedBodyFailsAlone) {
    std::atomic<int> failed{0};
    OnThreads(8, [&](int index) {
        for (int i = 0; i < 20; ++i) {
            const auto done = backend_->Append([&](Transaction& tx) -> Result<void> {
                const model::Run run = MakeRun();
                KSANA_TRY([[maybe_unused]] const auto inserted, tx.InsertRuns({&run}));
                if (index % 2 == 0) return Error(Code::kNotFound, "does not want to");
                return {};
            });
            EXPECT_EQ(done.has_value(), index % 2 != 0);
            if (!done) ++failed;
        }
    });
    EXPECT_EQ(failed, 4 * 20);
    EXPECT_EQ(Count(), 4 * 20);
}

// A run whose text the server refuses fails the calls of its group and no others.
TEST_F(AppendTest, RefusedStatementIsAnErrorOfItsCallers) {
    model::Run bad = MakeRun();
    bad.payload = std::string("\0", 1);
    const auto done = backend_->Append([&](Transaction& tx) -> Result<void> {
        KSANA_TRY([[maybe_unused]] const auto inserted, tx.InsertRuns({&bad}));
        return {};
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kInvalidArgument) << done.error().message;
    EXPECT_TRUE(store_->runs().Submit({.runs = {MakeRun()}}));
}

// A group does not wait for another group that is in progress.
TEST_F(AppendTest, TwoGroupsAreUnderWayAtOnce) {
    std::promise<void> begun;
    std::promise<void> over;
    bool waited_in_vain = false;
    {
        const std::jthread first([&] {
            const auto done = backend_->Append([&](Transaction&) -> Result<void> {
                begun.set_value();
                const auto told = over.get_future().wait_for(std::chrono::seconds(5));
                waited_in_vain = told != std::future_status::ready;
                return {};
            });
            EXPECT_TRUE(done);
        });
        begun.get_future().wait();
        EXPECT_TRUE(store_->runs().Submit({.runs = {MakeRun()}}));
        over.set_value();
    }
    EXPECT_FALSE(waited_in_vain);
}

TEST_F(AppendTest, TimeIsNeverAheadOfTheServer) {
    for (int i = 0; i < 50; ++i) {
        const auto outcome = store_->runs().Submit({.runs = {MakeRun()}});
        ASSERT_TRUE(outcome);
        const auto history = store_->runs().Get(outcome->at(0).id);
        ASSERT_TRUE(history);
        const auto now = store_->Now();
        ASSERT_TRUE(now);
        EXPECT_LE(history->run.created_at, *now);
        EXPECT_GT(history->run.created_at, *now - std::chrono::seconds(5));
    }
}

}  // namespace
}  // namespace ksana::store_postgres

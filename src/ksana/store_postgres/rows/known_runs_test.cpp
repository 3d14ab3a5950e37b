#include "ksana/store_postgres/rows/known_runs.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "support/postgres_server.hpp"

// Reports of runs that this process has started are written without reading the rows first; a
// change made meanwhile by another node still counts.

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using model::EventKind;
using model::EventVerdict;
using model::RunState;

KnownRuns::Runs::value_type Known(const Uuid& id) {
    KnownRun known;
    known.run.id = id;
    return {id, known};
}

TEST(KnownRunsTest, AllOrNothingAndOnce) {
    SystemClock clock;
    SystemRandom random;
    UuidGenerator ids(clock, random);
    const std::set<Uuid> both = {ids.Next(), ids.Next()};
    KnownRuns runs;
    runs.Put({Known(*both.begin())});
    EXPECT_FALSE(runs.Take(both));
    EXPECT_FALSE(runs.Take(std::set<Uuid>{*both.begin()})) << "asked for once";
    runs.Put({Known(*both.begin()), Known(*both.rbegin())});
    EXPECT_EQ(runs.Take(both)->size(), 2U);
    EXPECT_FALSE(runs.Take(both));
}

TEST(KnownRunsTest, TheOldestAreForgotten) {
    SystemClock clock;
    SystemRandom random;
    UuidGenerator ids(clock, random);
    KnownRuns runs;
    const Uuid first = ids.Next();
    runs.Put({Known(first)});
    Uuid last;
    for (int i = 0; i < 20'000; ++i) {
        last = ids.Next();
        runs.Put({Known(last)});
    }
    EXPECT_FALSE(runs.Take(std::set<Uuid>{first}));
    EXPECT_TRUE(runs.Take(std::set<Uuid>{last}));
}

// A run that is deleted at its end must have nothing outside its row.
TEST(KnownRunsTest, WithoutALogOnlyWhatIsItsRow) {
    model::Run run;
    run.status.state = RunState::kRunning;
    run.status.attempt = 1;
    run.policy.run_log = model::RunLog::kNone;
    EXPECT_TRUE(KnownRuns::IsWorthIt(run));
    run.unique.key = "k";
    EXPECT_FALSE(KnownRuns::IsWorthIt(run));
    run.policy.run_log = model::RunLog::kFull;
    EXPECT_TRUE(KnownRuns::IsWorthIt(run));
    run.unique.key.clear();
    run.policy.run_log = model::RunLog::kNone;
    run.status.attempt = 2;
    EXPECT_FALSE(KnownRuns::IsWorthIt(run));
}

class ReportTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ours_ = Open();
        others_ = Open();
    }

    std::unique_ptr<store::Store> Open() {
        auto backend = OpenPostgres(schema_.Options());
        EXPECT_TRUE(backend) << backend.error().Describe();
        return store_kit::MakeStore(std::move(*backend), ids_);
    }

    std::vector<model::Run> Claim(std::size_t count, model::RunLog kept = model::RunLog::kFull) {
        model::Run run;
        run.policy.run_log = kept;
        run.type = "mail";
        run.payload = "{}";
        EXPECT_TRUE(ours_->runs().Submit({.runs = std::vector<model::Run>(count, run)}));
        auto claimed = ours_->runs().Exchange(
            {.claim =
                 store::ClaimParams{.filter = {.types = {"mail"}}, .owner = "w", .limit = count}});
        EXPECT_TRUE(claimed) << claimed.error().Describe();
        EXPECT_EQ(claimed->claimed.runs.size(), count);
        return claimed->claimed.runs;
    }

    static std::vector<model::RunEvent> Events(const std::vector<model::Run>& runs,
                                               EventKind kind) {
        std::vector<model::RunEvent> events;
        for (const model::Run& run : runs) {
            events.push_back({run.id, {.kind = kind, .exec_id = run.status.exec_id}});
        }
        return events;
    }

    static std::vector<store::Applied> Apply(store::Store& store,
                                             std::vector<model::RunEvent> events) {
        auto done = store.runs().Exchange({.events = std::move(events)});
        EXPECT_TRUE(done) << done.error().Describe();
        return done ? done->applied : std::vector<store::Applied>();
    }

    std::int64_t CountOf(const std::string& table) {
        const Rows rows = schema_.Run(fmt::format("SELECT count(*) FROM ksana.{}", table));
        return RowReader(rows, 0).Int64();
    }

    model::Run Read(const Uuid& id) { return ours_->runs().Get(id)->run; }

    PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    std::unique_ptr<store::Store> ours_;
    std::unique_ptr<store::Store> others_;
};

TEST_F(ReportTest, WhatWasStartedHereEnds) {
    const auto runs = Claim(5);
    for (const auto& applied : Apply(*ours_, Events(runs, EventKind::kSuccess))) {
        EXPECT_EQ(applied.verdict, EventVerdict::kApplied);
    }
    EXPECT_EQ(CountOf("runs"), 0);
    EXPECT_EQ(CountOf("finished_runs"), 5);
    const model::Run run = Read(runs[2].id);
    EXPECT_EQ(run.status.state, RunState::kSucceeded);
    EXPECT_EQ(run.payload, "{}");
    EXPECT_EQ(run.status.owner, "w");
    for (const auto& applied : Apply(*ours_, Events(runs, EventKind::kSuccess))) {
        EXPECT_EQ(applied.verdict, EventVerdict::kDuplicate);
    }
}

// The report gives the same result as if the row had been read first, and the cancel request is not
// lost.
TEST_F(ReportTest, AWishToCancelFromElsewhereIsSeen) {
    const auto runs = Claim(3);
    Apply(*others_, {{runs[1].id, {.kind = EventKind::kCancel}}});
    const auto applied = Apply(*ours_, Events(runs, EventKind::kProgress));
    ASSERT_EQ(applied.size(), 3U);
    EXPECT_FALSE(applied[0].cancel_requested);
    EXPECT_TRUE(applied[1].cancel_requested);
    EXPECT_FALSE(applied[2].cancel_requested);
    for (const auto& ended : Apply(*ours_, Events(runs, EventKind::kSuccess))) {
        EXPECT_EQ(ended.verdict, EventVerdict::kApplied);
    }
}

TEST_F(ReportTest, ARunThatAnotherHasEndedIsNotEndedAgain) {
    const auto runs = Claim(3);
    Apply(*others_, Events({runs[0]}, EventKind::kPermanentFailure));
    const auto applied = Apply(*ours_, Events(runs, EventKind::kSuccess));
    ASSERT_EQ(applied.size(), 3U);
    EXPECT_NE(applied[0].verdict, EventVerdict::kApplied);
    EXPECT_EQ(applied[1].verdict, EventVerdict::kApplied);
    EXPECT_EQ(Read(runs[0].id).status.state, RunState::kFailed);
    EXPECT_EQ(CountOf("finished_runs"), 3);
}

TEST_F(ReportTest, WhatKeepsNoLogIsGone) {
    const auto runs = Claim(4, model::RunLog::kNone);
    Apply(*others_, {{runs[1].id, {.kind = EventKind::kCancel}}});
    Apply(*others_, Events({runs[2]}, EventKind::kSuccess));
    const auto applied = Apply(*ours_, Events(runs, EventKind::kSuccess));
    ASSERT_EQ(applied.size(), 4U);
    for (const std::size_t i : {0U, 1U, 3U}) {
        EXPECT_EQ(applied[i].verdict, EventVerdict::kApplied) << i;
    }
    EXPECT_NE(applied[2].verdict, EventVerdict::kApplied) << "it was gone";
    EXPECT_EQ(CountOf("runs"), 0);
    EXPECT_EQ(CountOf("finished_runs"), 0);
}

// The run was reaped and started again elsewhere: the report has an old exec_id.
TEST_F(ReportTest, AnOldReportIsStale) {
    const auto runs = Claim(1);
    ASSERT_TRUE(others_->runs().Reap({.lost_owners = {"w"}, .limit = 10}));
    const auto applied = Apply(*ours_, Events(runs, EventKind::kSuccess));
    ASSERT_EQ(applied.size(), 1U);
    EXPECT_EQ(applied[0].verdict, EventVerdict::kStale);
    EXPECT_NE(Read(runs[0].id).status.state, RunState::kSucceeded);
}

TEST_F(ReportTest, AReportWithAWrongTokenIsAnsweredFromTheStore) {
    const auto runs = Claim(1);
    auto events = Events(runs, EventKind::kSuccess);
    events[0].event.exec_id = "another";
    EXPECT_EQ(Apply(*ours_, events).at(0).verdict, EventVerdict::kStale);
    EXPECT_EQ(Apply(*ours_, Events(runs, EventKind::kSuccess)).at(0).verdict,
              EventVerdict::kApplied);
}

// A row that the server has moved (VACUUM FULL) is found by its id.
TEST_F(ReportTest, RowsMayMove) {
    const auto runs = Claim(4);
    schema_.Run("VACUUM FULL ksana.runs");
    for (const auto& applied : Apply(*ours_, Events(runs, EventKind::kSuccess))) {
        EXPECT_EQ(applied.verdict, EventVerdict::kApplied);
    }
    EXPECT_EQ(CountOf("finished_runs"), 4);
}

}  // namespace
}  // namespace ksana::store_postgres

// What is kept of runs that have ended.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::EventVerdict;
using model::RunState;
using std::chrono::seconds;
using store::SubmitVerdict;

// T-14: `none` leaves no row, `trigger` leaves no result.
TEST_P(StoreTest, RunLogSaysWhatIsKept) {
    Run none = MakeRun("none");
    none.policy.run_log = model::RunLog::kNone;
    none.unique = {.key = "k", .states = model::kAllStates};
    Run trigger = MakeRun("trigger");
    trigger.policy.run_log = model::RunLog::kTrigger;
    Submit({none, trigger});
    for (const Run& run : Claim(2)) {
        EXPECT_EQ(Report(run, EventKind::kSuccess).state, RunState::kSucceeded);
    }
    EXPECT_EQ(runs().Get(none.id).error().code, Code::kNotFound);
    none.id = ids_.Next();
    EXPECT_EQ(Submit({none})[0].verdict, SubmitVerdict::kStored) << "its key went with it";
    EXPECT_EQ(Read(trigger.id).run.status.state, RunState::kSucceeded);
    EXPECT_EQ(Read(trigger.id).run.status.result, "");
}

// T-14: rows that belong to these runs are deleted with them.
TEST_P(StoreTest, RunsWithoutALogLeaveNothing) {
    std::vector<Run> unkept(6, MakeRun());
    for (Run& run : unkept) {
        run.id = ids_.Next();
        run.policy.run_log = model::RunLog::kNone;
    }
    unkept[1].tenant = "acme";
    unkept[1].category = "c";
    unkept[1].creator = "ann";
    unkept[2].payload = "\"" + std::string(2'000, 'p') + "\"";
    unkept[3].unique = {.key = "k", .states = model::kAllStates};
    unkept[4].parent = unkept[0].id;
    unkept[5].type = "retried";
    Submit(unkept);
    SubmitOne(MakeRun("stays"));
    std::vector<model::RunEvent> events;
    for (const Run& run : Claim(6, {.without = {"stays"}})) {
        const bool fails = run.type == "retried";
        events.push_back({run.id,
                          {.kind = fails ? EventKind::kRetryableFailure : EventKind::kSuccess,
                           .exec_id = run.status.exec_id}});
    }
    const auto exchanged = runs().Exchange({.now = now_, .events = events});
    ASSERT_TRUE(exchanged) << exchanged.error().Describe();
    ASSERT_EQ(exchanged->applied.size(), 6U);
    for (const auto& applied : exchanged->applied) {
        EXPECT_EQ(applied.verdict, EventVerdict::kApplied);
    }
    EXPECT_EQ(store().records().Counts()->runs, 2);
    now_ += seconds(10);
    const auto again = Claim(1, {.types = {"retried"}});
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(Report(again[0], EventKind::kSuccess).state, RunState::kSucceeded);
    for (int opened = 0; opened < 2; ++opened) {
        const auto counts = *store().records().Counts();
        EXPECT_EQ(counts.runs, 1);
        EXPECT_EQ(counts.attempts, 0);
        for (const Run& run : unkept) {
            EXPECT_EQ(runs().Get(run.id).error().code, Code::kNotFound);
        }
        EXPECT_TRUE(runs().List({.filter = {.tenant = "acme"}})->items.empty());
        EXPECT_TRUE(runs().List({.filter = {.parent = unkept[0].id}})->items.empty());
        EXPECT_EQ(runs().Depths()->size(), 1U);
        if (!harness_->Reopen()) break;
    }
    unkept[3].id = ids_.Next();
    EXPECT_EQ(Submit({unkept[3]})[0].verdict, SubmitVerdict::kStored) << "its key went with it";
}

}  // namespace
}  // namespace ksana::conformance

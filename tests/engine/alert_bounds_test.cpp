#include "engine/alert_fixture.hpp"

namespace ksana::engine {
namespace {

using model::AlertKind;
using model::EventKind;
using model::IncidentState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// One scan reads a bounded number of runs. Nothing may be lost by that.
class AlertBoundsTest : public AlerterTest {
  protected:
    void Submit(const std::string& type, int count) {
        std::vector<model::Run> runs;
        for (int n = 0; n < count; ++n) {
            model::Run run;
            run.type = type;
            run.kind = model::ActionKind::kQueue;
            run.status.ready_at = clock_.Now();
            runs.push_back(run);
        }
        ASSERT_TRUE(store_->runs().Submit({.now = {}, .runs = std::move(runs)}));
    }
};

TEST_F(AlertBoundsTest, TasksThatNobodyServesHideNoOthers) {
    Submit("nobody", 600);
    clock_.Advance(hours(1));
    auto rule = Rule(AlertKind::kLate);
    rule.longer_than = minutes(1);
    Put(rule);
    Submit("mail", 1);
    clock_.Advance(minutes(2));
    Look();
    EXPECT_TRUE(Incident("type:nobody"));
    EXPECT_TRUE(Incident("type:mail"));
}

// A slow transaction: its timestamp lies before the cursor when it becomes visible.
TEST_F(AlertBoundsTest, WhatBecomesVisibleLateIsSeen) {
    Put(Rule());
    CreateJob("other");
    const model::Run run = Start();
    const TimePoint stamped = clock_.Now();
    Look();
    Run(EventKind::kPermanentFailure, seconds(1), "other");
    Look();
    EXPECT_FALSE(Incident());
    const model::Event event{
        .kind = EventKind::kPermanentFailure, .exec_id = run.status.exec_id, .error = "no"};
    ASSERT_TRUE(store_->runs().Apply({{run.id, event}}, stamped));
    for (int n = 0; n < 3; ++n) Look();
    ASSERT_TRUE(Incident());
    EXPECT_EQ(Incident()->count, 1) << "though it was looked at several times";
    EXPECT_EQ(Incident("job:other")->count, 1);
    EXPECT_EQ(Events(), (Strings{"opened", "opened"}));
}

TEST_F(AlertBoundsTest, ASuccessThatBecomesVisibleLateClosesTheIncident) {
    Put(Rule());
    const model::Run slow = Start();
    Run(EventKind::kPermanentFailure);
    clock_.Advance(seconds(1));
    const TimePoint stamped = clock_.Now();
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kOpen);
    const model::Event event{.kind = EventKind::kSuccess, .exec_id = slow.status.exec_id};
    ASSERT_TRUE(store_->runs().Apply({{slow.id, event}}, stamped));
    for (int n = 0; n < 3; ++n) Look();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
}

TEST_F(AlertBoundsTest, WhatIsOverMakesRoom) {
    Put(Rule());
    const auto keep = [&](int n, IncidentState state, TimePoint closed_at) {
        StoredIncident stored;
        stored.incident.id = ids_.Next();
        stored.incident.rule = "r";
        stored.incident.subject = "type:t" + std::to_string(n);
        stored.incident.state = state;
        stored.incident.opened_at = clock_.Now() - hours(9);
        stored.incident.told = stored.incident.over_told = true;
        if (state == IncidentState::kClosed) stored.incident.closed_at = closed_at;
        ASSERT_TRUE(service_.repository().PutIncident(stored, clock_.Now()));
    };
    const auto last = static_cast<int>(AlertRepository::kMaxIncidents) - 1;
    for (int n = 0; n < last - 2; ++n) keep(n, IncidentState::kOpen, {});
    keep(last - 2, IncidentState::kClosed, clock_.Now() - minutes(1));
    keep(last - 1, IncidentState::kClosed, clock_.Now() - hours(2));
    keep(last, IncidentState::kClosed, clock_.Now() - hours(3));
    Run(EventKind::kPermanentFailure);
    Look();
    EXPECT_TRUE(Incident());
    EXPECT_FALSE(Incident("type:t" + std::to_string(last))) << "the oldest";
    EXPECT_TRUE(Incident("type:t" + std::to_string(last - 1)));
    Run(EventKind::kPermanentFailure, seconds(1), "");
    Look();
    EXPECT_TRUE(Incident("type:mail"));
    EXPECT_FALSE(Incident("type:t" + std::to_string(last - 1)));
    EXPECT_TRUE(Incident("type:t" + std::to_string(last - 2))) << "it was over just now";
}

// The server crashed before it sent the recovery notice of an incident, and another incident began.
TEST_F(AlertBoundsTest, ANoticeThatIsOwedIsAboutItsOwnIncident) {
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    Look();
    StoredIncident stored = service_.repository().AllIncidents()->at(0);
    const Uuid first = stored.incident.id;
    stored.incident.state = IncidentState::kClosed;
    stored.incident.closed_at = clock_.Now();
    stored.incident.owed = model::PendingNotice{
        .kind = model::AlertNotice::kRecovered, .at = clock_.Now(), .ids = {ids_.Next()}};
    ASSERT_TRUE(service_.repository().PutIncident(stored, clock_.Now()));
    Run(EventKind::kPermanentFailure);
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered", "opened"}));
    EXPECT_NE(Notices().at(1).body.find(first.ToString()), std::string::npos);
    EXPECT_NE(Incident()->id, first);
    EXPECT_FALSE(Incident()->over_told);
}

}  // namespace
}  // namespace ksana::engine

#include "engine/alert_fixture.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::engine {
namespace {

using model::AlertKind;
using model::EventKind;
using model::IncidentState;
using model::RunState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_F(AlerterTest, AFailureIsToldOnceUntilItIsOver) {  // K-25
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    Run(EventKind::kPermanentFailure);
    Run(EventKind::kPermanentFailure);
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    EXPECT_EQ(Incident()->count, 3);
    Run(EventKind::kSuccess);
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
    EXPECT_EQ(Incident()->state, IncidentState::kClosed);
}

TEST_F(AlerterTest, ATaskIsKnownByItsType) {
    Put(Rule());
    Run(EventKind::kPermanentFailure, seconds(1), "");
    Look();
    ASSERT_TRUE(Incident("type:mail"));
    EXPECT_EQ(Incident("type:mail")->message, "failed: no");
}

TEST_F(AlerterTest, WhatWasBeforeTheRuleDoesNotCount) {
    Run(EventKind::kPermanentFailure);
    clock_.Advance(hours(1));
    Put(Rule());
    Look();
    EXPECT_TRUE(Events().empty());
}

TEST_F(AlerterTest, OnlyOneNodeLooks) {
    Put(Rule());
    Alerter other(*store_, locks_, zones_, clock_, ids_, {.owner = "two"});
    Look();
    Run(EventKind::kPermanentFailure);
    clock_.Advance(seconds(2));
    ASSERT_TRUE(other.RunOnce());
    EXPECT_TRUE(Events().empty()) << "the first has the lock";
    clock_.Advance(minutes(2));  // the lock has expired
    ASSERT_TRUE(other.RunOnce());
    EXPECT_EQ(Events(), Strings{"opened"}) << "and nothing of it is lost";
}

// A crash after each write: repeated work has no effect.
TEST_F(AlerterTest, ANoticeThatIsOwedIsToldOnce) {
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    Look();
    StoredIncident stored = service_.repository().AllIncidents()->at(0);
    const auto runs = store_->runs().List({.filter = {.trigger = model::RunTrigger::kCallback}});
    // The state before the notice was recorded as sent.
    stored.incident.told = false;
    stored.incident.owed = model::PendingNotice{
        .kind = model::AlertNotice::kOpened, .at = clock_.Now(), .ids = {runs->items.at(0).id}};
    ASSERT_TRUE(service_.repository().PutIncident(stored, clock_.Now()));
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    EXPECT_TRUE(Incident()->told);
    EXPECT_FALSE(Incident()->owed);
}

TEST_F(AlerterTest, AnotherNodeGoesOnFromTheStoredPlace) {
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    Look();
    for (int n = 0; n < 3; ++n) {
        Alerter next(*store_, locks_, zones_, clock_, ids_, {.owner = "one"});
        clock_.Advance(seconds(1));
        ASSERT_TRUE(next.RunOnce());
    }
    EXPECT_EQ(Incident()->count, 1) << "what was seen does not count again";
    EXPECT_EQ(Events(), Strings{"opened"});
}

TEST_F(AlerterTest, ALongRunIsNoticedWhileItRuns) {
    auto rule = Rule(AlertKind::kLong);
    rule.longer_than = minutes(5);
    Put(rule);
    const model::Run run = Start();
    clock_.Advance(minutes(4));
    Look();
    EXPECT_TRUE(Events().empty());
    clock_.Advance(minutes(1));
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    End(run, EventKind::kSuccess);
    Run(EventKind::kSuccess);
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
}

TEST_F(AlerterTest, LongIsMeasuredByTheMedian) {
    auto rule = Rule(AlertKind::kLong);
    rule.factor = 3.0;
    Put(rule);
    for (int n = 0; n < 6; ++n) Run(EventKind::kSuccess, seconds(10));
    Look();
    EXPECT_TRUE(Events().empty());
    Run(EventKind::kSuccess, seconds(29));
    Look();
    EXPECT_TRUE(Events().empty());
    Run(EventKind::kSuccess, seconds(31));
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
}

TEST_F(AlerterTest, ALateStartIsNoticed) {
    auto rule = Rule(AlertKind::kLate);
    rule.longer_than = minutes(1);
    Put(rule);
    End(Start("j", seconds(59)), EventKind::kSuccess);
    Look();
    EXPECT_TRUE(Events().empty());
    End(Start("j", seconds(61)), EventKind::kSuccess);
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    End(Start("j"), EventKind::kSuccess);
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
}

TEST_F(AlerterTest, WhatGoesToAddressesAndToAUrlAreTwoCallbacks) {
    auto rule = Rule();
    rule.email = {"a@example.com", "b@example.com"};
    Put(rule);
    Run(EventKind::kPermanentFailure);
    Look();
    const auto notices = Notices();
    ASSERT_EQ(notices.size(), 2U);
    EXPECT_EQ(notices[0].url, "http://127.0.0.1:9/hook");
    EXPECT_EQ(notices[1].url, "mailto:a@example.com,b@example.com");
    EXPECT_NE(notices[1].body.find("[ksana] alert: failure of job j"), std::string::npos);
}

TEST_F(AlerterTest, RemindersAndQuietHours) {
    auto rule = Rule();
    rule.remind_every = hours(1);
    Put(rule);
    Run(EventKind::kPermanentFailure);
    Look();
    clock_.Advance(hours(1));
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "reminder"}));
    rule.quiet = model::QuietHours{.zone = "UTC", .from = "00:00", .to = "23:59", .days = {}};
    Put(rule);
    clock_.Advance(hours(1));
    Look();
    EXPECT_EQ(Events().size(), 2U);
}

TEST_F(AlerterTest, TheJobIsGone) {
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    Look();
    ASSERT_TRUE(store_->jobs().Delete({.now = {}, .id = "j"}));
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kClosed);
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
}

TEST_F(AlerterTest, TheRuleIsGone) {
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    Look();
    ASSERT_TRUE(service_.Delete(*service_.repository().GetRule("r"), {}));
    EXPECT_FALSE(Incident());
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
}

// A crash between two transactions would lose the event.
TEST_F(AlerterTest, ADeletedRuleLeavesItsAuditEventInTheSameTransaction) {
    Put(Rule());
    store::FaultPlan faults;
    const auto counted = store::MakeFaultyStore(*store_, faults);
    AlertService service(*counted, zones_, ids_, {});
    ASSERT_TRUE(service.Delete(*service.repository().GetRule("r"), {}));
    EXPECT_EQ(faults.Calls("events.Append"), 0);
    const auto events = store_->events().List({.filter = {.action = "deleted"}});
    ASSERT_TRUE(events);
    ASSERT_EQ(events->items.size(), 1U);
    EXPECT_EQ(events->items[0].resource_type, model::audit::kAlert);
    EXPECT_EQ(events->items[0].resource_id, "r");
}

TEST_F(AlerterTest, ThousandsOfRunsTakeSeveralLooks) {
    auto rule = Rule();
    rule.scope.job = "other";
    CreateJob("other");
    Put(rule);
    for (int n = 0; n < 20; ++n) Run(EventKind::kPermanentFailure, seconds(0));
    Run(EventKind::kPermanentFailure, seconds(1), "other");
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    EXPECT_FALSE(Incident("job:j"));
}

}  // namespace
}  // namespace ksana::engine

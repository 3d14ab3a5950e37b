#include "engine/alert_fixture.hpp"

namespace ksana::engine {
namespace {

using model::AlertKind;
using model::EventKind;
using model::IncidentState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Incidents outside the current scope of their rule: nothing would ever close them.
class AlertScopeTest : public AlerterTest {
  protected:
    // Waits for an hour, in which reminders would be sent.
    void Wait() {
        clock_.Advance(hours(1));
        Look();
    }
    model::AlertRule Reminding(model::AlertScope scope = {}) {
        auto rule = Rule();
        rule.remind_every = minutes(1);
        rule.scope = std::move(scope);
        return rule;
    }
};

TEST_F(AlertScopeTest, AJobThatMovesAwayIsNotRemindedOf) {
    CreateJob("j", "nightly");
    Put(Reminding({.group = "nightly"}));
    Run(EventKind::kPermanentFailure);
    Look();
    CreateJob("j", "daily");
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kClosed);
    EXPECT_EQ(Incident()->message, "failed: no; the rule is not about it any more");
    Wait();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
}

TEST_F(AlertScopeTest, ARuleThatTurnsElsewhereLetsGo) {
    CreateJob("other");
    Put(Reminding());
    Run(EventKind::kPermanentFailure);
    Run(EventKind::kPermanentFailure, seconds(1), "other");
    Run(EventKind::kPermanentFailure, seconds(1), "");
    Look();
    EXPECT_EQ(Events().size(), 3U);
    Put(Reminding({.job = "other"}));
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kClosed);
    EXPECT_EQ(Incident("type:mail")->state, IncidentState::kClosed);
    EXPECT_EQ(Incident("job:other")->state, IncidentState::kOpen);
    EXPECT_EQ(Events().size(), 5U) << "those who have heard of it hear that, too";
    Put(Reminding({.tenant = "acme"}));
    Look();
    EXPECT_EQ(Incident("job:other")->state, IncidentState::kClosed);
}

TEST_F(AlertScopeTest, WhoHasNotHeardOfItHearsNothing) {
    auto rule = Rule();
    rule.quiet = model::QuietHours{.zone = "UTC", .from = "00:00", .to = "23:59", .days = {}};
    Put(rule);
    Run(EventKind::kPermanentFailure);
    Look();
    rule.quiet.reset();
    rule.scope.job = "other";
    Put(rule);
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kClosed);
    EXPECT_TRUE(Events().empty());
}

TEST_F(AlertScopeTest, ARuleOnSomethingElseBeginsAnew) {
    Put(Reminding());
    Run(EventKind::kPermanentFailure);
    Look();
    const Uuid first = Incident()->id;
    auto rule = Reminding();
    rule.on = AlertKind::kLong;
    rule.longer_than = minutes(1);
    Put(rule);
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kClosed);
    Wait();
    EXPECT_EQ(Events(), Strings{"opened"}) << "whoever changed it knows";
    Run(EventKind::kSuccess, minutes(2));
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "opened"}));
    EXPECT_NE(Incident()->id, first);
    EXPECT_EQ(Incident()->count, 1);
}

TEST_F(AlertScopeTest, ARuleThatIsEnabledAgainBeginsAnew) {
    auto rule = Reminding();
    rule.consecutive = 2;
    Put(rule);
    Run(EventKind::kPermanentFailure);
    Look();
    rule.enabled = false;
    Put(rule);
    Run(EventKind::kSuccess);
    Look();
    rule.enabled = true;
    Put(rule);
    Run(EventKind::kPermanentFailure);
    Look();
    EXPECT_TRUE(Events().empty()) << "it is the first that the rule sees";
    EXPECT_EQ(Incident()->count, 1);
}

// A run that exceeded the limit of the old rule exceeds that of the new one too.
TEST_F(AlertScopeTest, WhatIsStillSoIsFoundAgain) {
    auto rule = Rule(AlertKind::kLong);
    rule.longer_than = minutes(1);
    Put(rule);
    Start();
    clock_.Advance(minutes(2));
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    rule.enabled = false;
    Put(rule);
    Look();
    rule.enabled = true;
    Put(rule);
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kOpen);
    EXPECT_EQ(Events(), (Strings{"opened", "opened"}));
}

}  // namespace
}  // namespace ksana::engine

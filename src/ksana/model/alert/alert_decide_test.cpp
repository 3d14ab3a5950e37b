#include "ksana/model/alert/alert_decide.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class AlertDecideTest : public ::testing::Test {
  protected:
    bool Bad() { return Sign(true, at_ += seconds(1)); }
    bool Good() { return Sign(false, at_ += seconds(1)); }
    bool Sign(bool bad, TimePoint at) {
        ++fresh_.bytes[15];
        return ApplyObservation(incident_, rule_,
                                {.bad = bad, .at = at, .message = "no", .run_id = {}}, fresh_);
    }
    // Returns the notice that is due, after recording it as sent.
    std::optional<AlertNotice> Told(bool quiet = false) {
        const auto due = DueNotice(incident_, rule_, at_, quiet);
        if (due) RecordNotice(incident_, {.kind = *due, .at = at_, .ids = {}});
        return due;
    }

    AlertRule rule_{.id = "r"};
    AlertIncident incident_;
    TimePoint at_{hours(1'000'000)};
    Uuid fresh_;
};

TEST_F(AlertDecideTest, OneIncidentIsOpenUntilItIsOver) {
    EXPECT_TRUE(Bad());
    EXPECT_EQ(incident_.state, IncidentState::kOpen);
    const Uuid first = incident_.id;
    EXPECT_EQ(Told(), AlertNotice::kOpened);
    EXPECT_TRUE(Bad());
    EXPECT_EQ(incident_.count, 2);
    EXPECT_EQ(incident_.id, first);
    EXPECT_EQ(Told(), std::nullopt) << "more of the same";
    EXPECT_TRUE(Good());
    EXPECT_EQ(incident_.closed_at, at_);
    EXPECT_EQ(Told(), AlertNotice::kRecovered);
    EXPECT_EQ(Told(), std::nullopt);
    EXPECT_FALSE(Good());
    EXPECT_TRUE(Bad());
    EXPECT_NE(incident_.id, first) << "another one";
    EXPECT_EQ(incident_.count, 1);
    EXPECT_EQ(Told(), AlertNotice::kOpened);
}

TEST_F(AlertDecideTest, SoManyMustComeOneAfterTheOther) {
    rule_.consecutive = 3;
    Bad();
    Bad();
    EXPECT_EQ(Told(), std::nullopt);
    Good();
    EXPECT_EQ(Told(), std::nullopt) << "it was never open";
    Bad();
    Bad();
    EXPECT_EQ(incident_.state, IncidentState::kCounting);
    Bad();
    EXPECT_EQ(incident_.state, IncidentState::kOpen);
    EXPECT_EQ(incident_.count, 3);
    EXPECT_EQ(Told(), AlertNotice::kOpened);
}

TEST_F(AlertDecideTest, EachSignCountsOnce) {
    Bad();
    EXPECT_FALSE(Sign(true, at_));
    EXPECT_FALSE(Sign(true, at_ - seconds(1)));
    EXPECT_FALSE(Sign(false, at_ - seconds(1))) << "an old success closes nothing";
    EXPECT_EQ(incident_.count, 1);
}

TEST_F(AlertDecideTest, RemindersComeWhileItGoesOn) {
    rule_.remind_every = hours(1);
    Bad();
    EXPECT_EQ(Told(), AlertNotice::kOpened);
    at_ += minutes(59);
    EXPECT_EQ(Told(), std::nullopt);
    EXPECT_EQ(NextReminder(incident_, rule_), *incident_.told_at + hours(1));
    at_ += minutes(1);
    EXPECT_EQ(Told(), AlertNotice::kReminder);
    EXPECT_EQ(Told(), std::nullopt);
    at_ += hours(5);
    EXPECT_EQ(Told(), AlertNotice::kReminder) << "one, however long nobody looked";
    EXPECT_EQ(Told(), std::nullopt);
    Good();
    EXPECT_EQ(NextReminder(incident_, rule_), std::nullopt);
}

TEST_F(AlertDecideTest, QuietHoursHoldBackAndSumUp) {
    Bad();
    EXPECT_EQ(Told(true), std::nullopt);
    Bad();
    EXPECT_EQ(Told(false), AlertNotice::kOpened);
    EXPECT_EQ(incident_.count, 2);
    Good();
    EXPECT_EQ(Told(true), std::nullopt);
    EXPECT_EQ(Told(false), AlertNotice::kRecovered);
}

TEST_F(AlertDecideTest, WhatBeganAndEndedInQuietHoursIsToldOnce) {
    Bad();
    Good();
    EXPECT_EQ(Told(true), std::nullopt);
    EXPECT_EQ(Told(false), AlertNotice::kRecovered);
    EXPECT_EQ(Told(false), std::nullopt);
}

// An incident that opens and closes every second causes a few notices, then one a minute.
TEST_F(AlertDecideTest, WhatFlapsIsToldOncePerMinute) {
    int told = 0;
    for (int n = 0; n < 3600 / 2; ++n) {
        Bad();
        if (Told()) ++told;
        Good();
        if (Told()) ++told;
    }
    EXPECT_LE(told, 60 + kNoticesAtOnce);
    EXPECT_GE(told, 60 - 1);
}

TEST_F(AlertDecideTest, WhatIsHeldBackIsToldLater) {
    for (int n = 0; n < kNoticesAtOnce / 2; ++n) {
        Bad();
        EXPECT_EQ(Told(), AlertNotice::kOpened);
        Good();
        EXPECT_EQ(Told(), AlertNotice::kRecovered);
    }
    Bad();
    EXPECT_EQ(Told(), std::nullopt);
    at_ += minutes(1);
    EXPECT_EQ(Told(), AlertNotice::kOpened);
    at_ += hours(1);
    Good();
    EXPECT_EQ(Told(), AlertNotice::kRecovered);
}

TEST_F(AlertDecideTest, WhoHasNotHeardThatItWasOverHasOneIncident) {
    Bad();
    EXPECT_EQ(Told(), AlertNotice::kOpened);
    const Uuid first = incident_.id;
    Good();
    EXPECT_EQ(Told(true), std::nullopt);
    Bad();
    EXPECT_EQ(incident_.state, IncidentState::kOpen);
    EXPECT_EQ(incident_.id, first);
    EXPECT_EQ(incident_.count, 2);
    EXPECT_EQ(incident_.closed_at, std::nullopt);
    EXPECT_EQ(Told(), std::nullopt) << "it is known to be open";
    Good();
    EXPECT_EQ(Told(), AlertNotice::kRecovered);
}

TEST_F(AlertDecideTest, ThatItIsOverNeedNotBeTold) {
    rule_.recovery = false;
    Bad();
    EXPECT_EQ(Told(), AlertNotice::kOpened);
    Good();
    EXPECT_EQ(Told(), std::nullopt);
}

TEST_F(AlertDecideTest, ARuleThatIsOffTellsNothing) {
    Bad();
    rule_.enabled = false;
    EXPECT_EQ(Told(), std::nullopt);
}

}  // namespace
}  // namespace ksana::model

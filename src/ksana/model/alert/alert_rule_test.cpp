#include "ksana/model/alert/alert_rule.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"

namespace ksana::model {
namespace {

class AlertRuleTest : public ::testing::Test {
  protected:
    std::vector<std::string> Faults(const AlertRule& rule) {
        std::vector<std::string> paths;
        for (const Problem& problem : ValidateAlertRule(rule, zones_))
            paths.push_back(problem.path);
        return paths;
    }
    bool Quiet(const QuietHours& quiet, std::string_view at) {
        return IsQuiet(quiet, ParseTime(at).value(), zones_);
    }

    schedule::ZoneDatabase zones_;
    AlertRule rule_{.id = "r", .email = {"a@example.com"}};
};

TEST_F(AlertRuleTest, EveryFaultIsNamed) {
    EXPECT_TRUE(Faults(rule_).empty());
    rule_.id = "a b";
    rule_.consecutive = 0;
    rule_.factor = 2.0;
    rule_.email = {"a@b", "nobody", "a@b\r\nBcc: c@d", "a@b,c@d", "<a@b>", "a@b@c"};
    rule_.webhook = AlertWebhook{.url = "ftp://x/"};
    rule_.remind_every = std::chrono::seconds(1);
    rule_.quiet = QuietHours{.zone = "Mars/Base", .from = "24:00", .to = "7:00", .days = {}};
    EXPECT_EQ(Faults(rule_), (std::vector<std::string>{
                                 "/id", "/consecutive", "/factor", "/webhook/url", "/email/1",
                                 "/email/2", "/email/3", "/email/4", "/email/5", "/remind_every",
                                 "/quiet/zone", "/quiet/from", "/quiet/to"}));
}

TEST_F(AlertRuleTest, WhatIsTooLateOrTooLongMustBeSaid) {
    rule_.on = AlertKind::kLate;
    EXPECT_EQ(Faults(rule_), std::vector<std::string>{"/longer_than"});
    rule_.on = AlertKind::kLong;
    EXPECT_EQ(Faults(rule_), std::vector<std::string>{"/longer_than"});
    rule_.factor = 3.0;
    EXPECT_TRUE(Faults(rule_).empty());
    rule_.email.clear();
    EXPECT_EQ(Faults(rule_), std::vector<std::string>{""}) << "nobody to tell";
}

TEST_F(AlertRuleTest, AllOfAScopeMustHold) {
    model::Run run;
    run.job_id = "j";
    run.type = "mail";
    run.tenant = "acme";
    Job job;
    job.id = "j";
    job.group = "etl";
    job.labels = {{"team", "a"}, {"tier", "1"}};
    EXPECT_TRUE(Concerns({}, run, nullptr));
    EXPECT_TRUE(Concerns(
        {.job = "j", .group = "etl", .type = "mail", .tenant = "acme", .labels = {{"team", "a"}}},
        run, &job));
    EXPECT_FALSE(Concerns({.job = "k"}, run, &job));
    EXPECT_FALSE(Concerns({.group = "etl"}, run, nullptr)) << "the job is gone";
    EXPECT_FALSE(Concerns({.tenant = "other"}, run, &job));
    EXPECT_FALSE(Concerns({.labels = {{"team", "b"}}}, run, &job));
    EXPECT_TRUE(Concerns({.job = "j", .group = "etl"}, job));
    EXPECT_FALSE(Concerns({.type = "mail"}, job)) << "it calls a URL";
}

TEST_F(AlertRuleTest, QuietHoursAreThoseOfTheZone) {
    const QuietHours noon{.zone = "Europe/Paris", .from = "12:00", .to = "13:30", .days = {}};
    EXPECT_FALSE(Quiet(noon, "2026-07-01T09:59:59Z"));
    EXPECT_TRUE(Quiet(noon, "2026-07-01T10:00:00Z")) << "summer";
    EXPECT_FALSE(Quiet(noon, "2026-01-01T10:30:00Z")) << "winter";
    EXPECT_TRUE(Quiet(noon, "2026-01-01T12:29:59Z"));
    EXPECT_FALSE(Quiet(noon, "2026-01-01T12:30:00Z"));
}

TEST_F(AlertRuleTest, QuietHoursMayGoOverMidnight) {
    // Friday and Saturday evening until the next morning.
    const QuietHours night{
        .zone = "UTC", .from = "22:00", .to = "07:00", .days = {Weekday::kFri, Weekday::kSat}};
    EXPECT_TRUE(Quiet(night, "2026-11-20T22:00:00Z")) << "Friday";
    EXPECT_TRUE(Quiet(night, "2026-11-21T06:59:00Z"));
    EXPECT_FALSE(Quiet(night, "2026-11-21T07:00:00Z"));
    EXPECT_TRUE(Quiet(night, "2026-11-22T06:00:00Z")) << "it began on Saturday";
    EXPECT_FALSE(Quiet(night, "2026-11-22T23:00:00Z")) << "Sunday";
    EXPECT_FALSE(Quiet(night, "2026-11-20T06:00:00Z")) << "began on Thursday";
}

}  // namespace
}  // namespace ksana::model

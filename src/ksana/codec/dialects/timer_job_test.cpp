#include "ksana/codec/dialects/timer_job.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "support/fill.hpp"

namespace ksana::codec {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kPing = R"({
  "id": "", "name": "ping service", "enabled": true, "type": "http",
  "http": {"method": "GET", "url": "https://example.com/ping",
           "headers": {"X-Token": "abc", "X-Other": "d"}, "body": ""},
  "schedule": {"kind": "every", "every": "5m", "start_at": "", "jitter": "5s"},
  "timeout": "10s", "max_retries": 3, "retry_backoff": "5s",
  "last_run_at": "", "next_run_at": "2025-09-19T11:05:00Z", "last_status": "", "last_error": ""
})";

const model::HttpAction& Http(const model::Job& job) {
    return std::get<model::HttpAction>(job.action);
}

TEST(TimerJob, ReadsTheDocumentedExample) {  // K-14, K-15
    const auto job = TimerJobFromJson(kPing);
    ASSERT_TRUE(job) << job.error().Describe();
    EXPECT_EQ(job->name, "ping service");
    EXPECT_EQ(job->schedule.every, minutes(5));
    EXPECT_EQ(job->schedule.jitter, seconds(5));
    EXPECT_FALSE(job->state.next_run_at) << "the service's own";
    EXPECT_EQ(job->retry->max_retries, 3);
}

TEST(TimerJob, EveryFaultIsNamed) {  // K-20
    const auto job = TimerJobFromJson(
        R"({"name": 5, "type": "http", "http": {"url": "http://x/", "metod": "GET"},
            "schedule": {"kind": "every", "every": "5 minutes"}})");
    ASSERT_FALSE(job);
    ASSERT_EQ(job.error().problems.size(), 3U) << job.error().Describe();
    EXPECT_EQ(job.error().problems[0].path, "/name");
    EXPECT_NE(job.error().Describe().find("method"), std::string::npos) << "the nearest name";
}

TEST(TimerJob, ShowsThePoliciesThatHold) {  // K-08
    model::Job job;
    job.id = "a";
    job.name = "n";
    job.action = model::HttpAction{.url = "http://x/"};
    const std::string text = TimerJobToJson(job, {.timeout = seconds(7), .retry = {}});
    EXPECT_NE(text.find(R"("timeout":"7s","max_retries":3,"retry_backoff":"5s")"),
              std::string::npos)
        << text;
    EXPECT_EQ(TimerJobsToJson(std::vector{job, job}, {}).front(), '[');
}

// A tree of values written by the library gives the same text.
TEST(TimerJob, HostileTextsAreWrittenAsTheLibraryWritesThem) {
    SeededRandom random(11);
    testing::Filler filler(random);
    for (int i = 0; i < 300; ++i) {
        model::Job job = filler.Populated<model::Job>();
        if (job.retry) job.retry->jitter = 0;  // the library writes fractions differently
        const std::string text = TimerJobToJson(job, {});
        const auto parsed = ParseJson(text, {.bytes = text.size(), .depth = 100});
        ASSERT_TRUE(parsed) << parsed.error().Describe() << "\n" << text;
        EXPECT_EQ(boost::json::serialize(*parsed), text);
    }
}

TEST(TimerJob, ADefaultThatIsNotPlainStandsAmongTheRest) {
    model::Job job;
    job.action = model::HttpAction{.url = "http://x/"};
    job.overlap = model::OverlapPolicy::kAllow;
    job.priority = job.priority + 1;
    model::PolicyDefaults defaults;
    defaults.retry.strategy = model::RetryStrategy::kExponential;
    const std::string text = TimerJobToJson(job, defaults);
    const std::size_t retry = text.find(R"("retry":{"strategy":"exponential"})");
    ASSERT_NE(retry, std::string::npos) << text;
    EXPECT_GT(retry, text.find("\"last_error\""));
    EXPECT_LT(retry, text.find("\"priority\""));
    EXPECT_EQ(text.find("max_retries"), std::string::npos);
}

TEST(TimerJob, APatchChangesWhatItNames) {
    model::Job job = *TimerJobFromJson(kPing);
    job.id = "a";
    job.state.version = 4;
    job.state.last_state = model::RunState::kFailed;
    ASSERT_TRUE(PatchTimerJob(job, R"({"name": "pong", "http": {"headers": {"X-Token": null}},
                                       "schedule": {"every": "1m"}, "timeout": null})"));
    EXPECT_EQ(job.name, "pong");
    EXPECT_EQ(Http(job).url, "https://example.com/ping");
    EXPECT_EQ(Http(job).headers.size(), 1U);
    EXPECT_EQ(job.schedule.every, minutes(1));
    EXPECT_EQ(job.schedule.jitter, seconds(5)) << "not named";
    EXPECT_FALSE(job.timeout) << "back to the server's";
    EXPECT_EQ(job.state.version, 4);
    EXPECT_EQ(job.state.last_state, model::RunState::kFailed);
}

TEST(TimerJob, AScheduleOfAnotherKindIsANewOne) {
    model::Job job = *TimerJobFromJson(kPing);
    ASSERT_TRUE(
        PatchTimerJob(job, R"({"schedule": {"kind": "once", "run_at": "2030-01-01T00:00:00Z"}})"));
    EXPECT_EQ(job.schedule.kind, schedule::ScheduleKind::kOnce);
    EXPECT_EQ(job.schedule.jitter, Duration::zero());
}

TEST(TimerJob, ABadPatchChangesNothing) {
    const model::Job before = *TimerJobFromJson(kPing);
    for (const char* const patch :
         {R"({"nmae": "x"})", R"({"id": "other"})", "[]", R"({"schedule": {"every": "soon"}})",
          R"({"name": null})", "{"}) {
        model::Job job = before;
        EXPECT_FALSE(PatchTimerJob(job, patch)) << patch;
        EXPECT_EQ(job, before) << patch;
    }
}

TEST(TimerJob, ParametersAreAnObject) {
    EXPECT_EQ(*RunParametersFromJson(" "), "");
    EXPECT_EQ(*RunParametersFromJson("{}"), "");
    EXPECT_EQ(*RunParametersFromJson(R"({ "a": [1, 2] })"), R"({"a":[1,2]})");
    EXPECT_FALSE(RunParametersFromJson("[1]"));
}

}  // namespace
}  // namespace ksana::codec

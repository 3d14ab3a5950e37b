#include "ksana/codec/dialects/jobs_file.hpp"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "support/fill.hpp"

namespace ksana::codec {
namespace {

using namespace model;
using schedule::ScheduleKind;
using Strings = std::vector<std::string>;

// Document K, section 4, verbatim.
constexpr const char* kDocumented = R"({
  "version": 1,
  "updated_at": "2025-09-19T11:00:00Z",
  "jobs": [
    {
      "id": "uuid-1",
      "name": "ping service",
      "enabled": true,
      "type": "http",
      "http": {
        "method": "GET",
        "url": "https://example.com/ping",
        "headers": {"X-Token": "abc"},
        "body": ""
      },
      "schedule": {
        "kind": "every",
        "every": "5m",
        "start_at": "",
        "jitter": "5s"
      },
      "timeout": "10s",
      "max_retries": 3,
      "retry_backoff": "5s",
      "last_run_at": "",
      "next_run_at": "2025-09-19T11:05:00Z",
      "last_status": "",
      "last_error": ""
    }
  ]
})";

std::string Write(const std::vector<Job>& jobs, TimePoint updated_at = {}) {
    std::vector<const Job*> pointers;
    for (const Job& job : jobs) pointers.push_back(&job);
    return JobsFileToJson(pointers, updated_at);
}

// Returns the only job of a file, as JSON.
boost::json::object Written(const Job& job) {
    return ParseJson(Write({job}))->at("jobs").at(0).as_object();
}

Strings Names(const boost::json::object& object) {
    Strings names;
    for (const auto& member : object) names.emplace_back(member.key());
    return names;
}

// Returns a file with one job of these members.
std::string FileOf(const std::string& job) { return R"({"jobs": [)" + job + "]}"; }

Job ReadOne(const std::string& job) {
    const auto file = JobsFileFromJson(FileOf(job));
    EXPECT_TRUE(file) << file.error().Describe();
    return file ? file->jobs.at(0) : Job{};
}

Job PlainJob() {
    Job job{{.id = "a", .name = "n", .action = HttpAction{HttpMethod::kGet, "http://h/", {}, ""}}};
    job.schedule.kind = ScheduleKind::kEvery;
    job.schedule.every = std::chrono::minutes(5);
    job.timeout = std::chrono::seconds(10);
    job.retry = RetryPolicy{};
    return job;
}

// K-11: the documented example is read, and written back equal except for blanks.
TEST(JobsFile, IsTheDocumentedOne) {
    const auto file = JobsFileFromJson(kDocumented);
    ASSERT_TRUE(file) << file.error().Describe();
    EXPECT_EQ(file->version, 1);
    EXPECT_EQ(file->updated_at, *ParseTime("2025-09-19T11:00:00Z"));
    ASSERT_EQ(file->jobs.size(), 1U);
    Job expected = PlainJob();
    expected.id = "uuid-1";
    expected.name = "ping service";
    expected.action =
        HttpAction{HttpMethod::kGet, "https://example.com/ping", {{"X-Token", "abc"}}, ""};
    expected.schedule.jitter = std::chrono::seconds(5);
    expected.state.next_run_at = ParseTime("2025-09-19T11:05:00Z").value();
    EXPECT_EQ(file->jobs[0], expected);
    const std::string written = Write(file->jobs, file->updated_at);
    EXPECT_EQ(WriteJson(*ParseJson(written)), WriteJson(*ParseJson(kDocumented))) << written;
    EXPECT_NE(written.find("\n      \"id\": \"uuid-1\",\n"), std::string::npos) << "for people";
}

// K-11, K-16: only the documented members, in their order.
TEST(JobsFile, APlainJobHasTheDocumentedMembers) {
    const auto job = Written(PlainJob());
    EXPECT_EQ(Names(job), (Strings{"id", "name", "enabled", "type", "http", "schedule", "timeout",
                                   "max_retries", "retry_backoff", "last_run_at", "next_run_at",
                                   "last_status", "last_error"}));
    EXPECT_EQ(Names(job.at("http").as_object()), (Strings{"method", "url", "headers", "body"}));
    EXPECT_EQ(Names(job.at("schedule").as_object()),
              (Strings{"kind", "every", "start_at", "jitter"}));
    Job once = PlainJob();
    once.schedule = {.run_at = TimePoint{}};
    EXPECT_EQ(WriteJson(Written(once).at("schedule")),
              R"({"kind":"once","run_at":"1970-01-01T00:00:00Z"})");
    EXPECT_EQ(Names(ParseJson(Write({}))->as_object()), (Strings{"version", "updated_at", "jobs"}));
}

// The file does not freeze the server's defaults.
TEST(JobsFile, LeavesOutRetriesAndTimeoutThatAreNotItsOwn) {
    Job job = PlainJob();
    job.timeout.reset();
    job.retry.reset();
    const auto written = Written(job);
    for (const char* key : {"timeout", "max_retries", "retry_backoff", "retry"}) {
        EXPECT_FALSE(written.contains(key)) << key;
    }
    EXPECT_EQ(JobsFileFromJson(Write({job}))->jobs.at(0), job);
}

TEST(JobsFile, SaysTheRestWithTheNamesOfADefinition) {
    Job job = PlainJob();
    job.tenant = "t";
    job.priority = 9;
    job.retry->strategy = RetryStrategy::kExponential;
    job.schedule.zone = "Europe/Paris";
    job.misfire.policy = MisfirePolicy::kRunAll;
    job.action = QueueAction{"type", "", R"({"a":1})"};
    const auto written = Written(job);
    EXPECT_EQ(Names(written), (Strings{"id", "name", "enabled", "type", "queue", "schedule",
                                       "timeout", "last_run_at", "next_run_at", "last_status",
                                       "last_error", "tenant", "misfire", "retry", "priority"}));
    EXPECT_EQ(WriteJson(written.at("queue")), R"({"type":"type","category":"","payload":{"a":1}})");
    EXPECT_EQ(WriteJson(written.at("retry")), R"({"strategy":"exponential"})");
    EXPECT_EQ(WriteJson(written.at("misfire")), R"({"policy":"run_all"})");
    EXPECT_EQ(Names(written.at("schedule").as_object()),
              (Strings{"kind", "every", "start_at", "jitter", "zone"}));
    job.schedule = {.kind = ScheduleKind::kCron, .cron = "0 3 * * *"};
    EXPECT_EQ(WriteJson(Written(job).at("schedule")), R"({"kind":"cron","cron":"0 3 * * *"})");
}

// Resets what a definition, and so the file, cannot express.
void KeepToTheDefinition(Job& job) {
    schedule::ScheduleSpec spec{.kind = job.schedule.kind, .jitter = job.schedule.jitter};
    if (spec.kind == ScheduleKind::kOnce) {
        spec.run_at = job.schedule.run_at;
    } else {
        spec.start_at = job.schedule.start_at;
        spec.end_at = job.schedule.end_at;
    }
    if (spec.kind == ScheduleKind::kEvery || spec.kind == ScheduleKind::kCron) {
        spec.zone = job.schedule.zone;
        spec.calendar = job.schedule.calendar;
    }
    if (spec.kind == ScheduleKind::kAfter) {
        spec.jobs = job.schedule.jobs;
        spec.on = job.schedule.on;
        spec.join = job.schedule.join;
    }
    if (spec.kind == ScheduleKind::kEvery) spec.every = job.schedule.every;
    if (spec.kind == ScheduleKind::kCron) {
        spec.cron = job.schedule.cron;
        spec.dialect = job.schedule.dialect;
        spec.day_match = job.schedule.day_match;
        spec.dst = job.schedule.dst;
    }
    job.schedule = spec;
    if (auto* handler = std::get_if<HandlerAction>(&job.action)) handler->input = R"([1,"x"])";
    if (auto* queue = std::get_if<QueueAction>(&job.action)) queue->payload = R"({"a":1.5})";
    job.state.version = 0;
    job.state.created_at = {};
    job.state.updated_at = {};
    job.state.planned_until.reset();
    job.state.total_runs = 0;
    job.state.consecutive_failures = 0;
    job.state.dependants = 0;
    job.state.last_state.reset();
}

// K-11: each member alone and all together, with every character and any byte.
TEST(JobsFile, KeepsEveryMemberOfADefinition) {
    SeededRandom random(1);
    testing::Filler filler(random);
    testing::Filler bytes(random, true);
    for (int i = 0; i < 50; ++i) {
        std::vector<Job> jobs = filler.EachMemberChanged<Job>();
        for (const RetryPolicy& retry : filler.EachMemberChanged<RetryPolicy>()) {
            jobs.push_back({{.retry = retry}});
        }
        for (const auto& spec : filler.EachMemberChanged<schedule::ScheduleSpec>()) {
            jobs.push_back({{.schedule = spec}});
            jobs.push_back({{.schedule = spec}});
            jobs.back().schedule.kind = ScheduleKind::kEvery;
            jobs.push_back({{.schedule = spec}});
            jobs.back().schedule.kind = ScheduleKind::kCron;
        }
        jobs.push_back(filler.Populated<Job>());
        jobs.push_back(bytes.Populated<Job>());
        for (Job& job : jobs) KeepToTheDefinition(job);
        const std::string text = Write(jobs, MaxTime());
        const auto back = JobsFileFromJson(text);
        ASSERT_TRUE(back) << back.error().Describe() << "\n" << text;
        EXPECT_EQ(back->updated_at, MaxTime());
        ASSERT_EQ(back->jobs.size(), jobs.size());
        for (std::size_t j = 0; j < jobs.size(); ++j) ASSERT_EQ(back->jobs[j], jobs[j]) << text;
    }
}

// An unreadable file is moved aside with all its jobs (K-12), so no content of a job may make it
// unreadable.
TEST(JobsFile, IsAlwaysReadable) {
    const std::string deep = std::string(64, '[') + std::string(64, ']');
    for (const std::string& payload : {deep, std::string("{,"), std::string("\xFF"),
                                       std::string("[1e999]"), std::string("null")}) {
        const std::string text = Write({Job{{.action = QueueAction{"t", "c", payload}}}});
        EXPECT_TRUE(JobsFileFromJson(text)) << text;
    }
    EXPECT_TRUE(JobsFileFromJson(Write(std::vector<Job>(8'000, PlainJob()))));
}

// K-16
TEST(JobsFile, HasTheDocumentedStatus) {
    const std::map<RunState, std::pair<std::string, std::optional<RunState>>> expected = {
        {RunState::kScheduled, {"", std::nullopt}},
        {RunState::kQueued, {"", std::nullopt}},
        {RunState::kRunning, {"", std::nullopt}},
        {RunState::kCompleting, {"success", RunState::kSucceeded}},
        {RunState::kHeld, {"failed", RunState::kFailed}},
        {RunState::kSucceeded, {"success", RunState::kSucceeded}},
        {RunState::kFailed, {"failed", RunState::kFailed}},
        {RunState::kTimedOut, {"timeout", RunState::kTimedOut}},
        {RunState::kCancelled, {"failed", RunState::kFailed}},
        {RunState::kResolved, {"failed", RunState::kFailed}},
        {RunState::kSkipped, {"skipped", RunState::kSkipped}},
        {RunState::kMissed, {"missed", RunState::kMissed}},
    };
    ASSERT_EQ(expected.size(), kEnumCount<RunState>);
    Job job = PlainJob();
    for (const auto& [state, status] : expected) {
        job.state.last_state = state;
        EXPECT_EQ(Written(job).at("last_status").as_string(), status.first) << NameOf(state);
        EXPECT_EQ(JobsFileFromJson(Write({job}))->jobs.at(0).state.last_state, status.second);
    }
    job.enabled = false;
    EXPECT_EQ(Written(job).at("last_status").as_string(), "paused");
    const Job back = JobsFileFromJson(Write({job}))->jobs.at(0);
    EXPECT_FALSE(back.enabled);
    EXPECT_EQ(back.state.last_state, std::nullopt);
}

// K-15, K-16
TEST(JobsFile, KeepsTimesAndTheLastError) {
    Job job = PlainJob();
    job.state.last_run_at = *ParseTime("2026-01-02T03:04:05.000006Z");
    job.state.next_run_at = *ParseTime("2026-01-02T03:09:05Z");
    job.state.last_error = "connection refused";
    job.schedule.start_at = MinTime();
    const auto written = Written(job);
    EXPECT_EQ(written.at("last_run_at").as_string(), "2026-01-02T03:04:05.000006Z");
    EXPECT_EQ(written.at("next_run_at").as_string(), "2026-01-02T03:09:05Z");
    EXPECT_EQ(written.at("schedule").at("start_at").as_string(), "0000-01-01T00:00:00Z");
    EXPECT_EQ(written.at("schedule").at("every").as_string(), "5m");
    EXPECT_EQ(JobsFileFromJson(Write({job}))->jobs.at(0), job);
}

TEST(JobsFile, ReadsWhatPeopleWrite) {
    // The shortest job.
    const Job shortest = ReadOne(R"({"name": "n", "http": {"url": "http://h/"},
                                     "schedule": {"kind": "every", "every": "90s"}})");
    EXPECT_EQ(shortest.id, "");
    EXPECT_TRUE(shortest.enabled);
    EXPECT_EQ(shortest.retry, std::nullopt);
    EXPECT_EQ(shortest.timeout, std::nullopt);
    // "" means none wherever none is allowed.
    const std::string start = R"({"name": "n", "http": {"url": "http://h/"}, )";
    const Job blank = ReadOne(start + R"("timeout": "", "retry_backoff": "", "last_run_at": "",
        "next_run_at": "", "stop_grace": "", "last_status": "",
        "schedule": {"kind": "every", "every": "90s", "start_at": "", "end_at": "",
                     "jitter": ""}})");
    EXPECT_EQ(blank, shortest);
    // One of the two is enough; the other has its default.
    const std::string every = start + R"("schedule": {"kind": "every", "every": "90s"}, )";
    EXPECT_EQ(ReadOne(every + R"("max_retries": 7})").retry, (RetryPolicy{.max_retries = 7}));
    EXPECT_EQ(ReadOne(every + R"("retry_backoff": "1m"})").retry,
              (RetryPolicy{.interval = std::chrono::minutes(1)}));
    EXPECT_EQ(ReadOne(every + R"("retry": {"strategy": "none"}})").retry,
              (RetryPolicy{.strategy = RetryStrategy::kNone}));
    EXPECT_EQ(JobsFileFromJson(R"({"jobs": [], "updated_at": ""})")->updated_at, TimePoint{});
    EXPECT_EQ(
        ReadOne(start + R"("schedule": {"kind": "once", "run_at": "2026-01-01T08:00:00+08:00"}})")
            .schedule.run_at,
        *ParseTime("2026-01-01T00:00:00Z"));
}

std::map<std::string, std::string> Faults(const std::string& text) {
    std::map<std::string, std::string> faults;
    const auto file = JobsFileFromJson(text);
    if (file) return faults;
    for (const Problem& problem : file.error().problems) faults[problem.path] = problem.message;
    return faults;
}

TEST(JobsFile, NamesEveryFault) {
    auto faults = Faults(R"({"version": 1, "jbos": 1, "jobs": [
        {"name": "n", "http": {"url": "http://h/"}, "schedule": {"kind": "once", "run_at": ""}},
        {"nmae": "n", "http": {"url": 7}, "max_retry": 3, "last_status": "sucess", "version": 1,
         "schedule": {"kind": "every", "every": "", "run_at": ""}, "max_retries": "3"},
        {"name": "n", "type": "handler", "handler": {"name": "h"}, "retry": {}, "max_retries": 1,
         "schedule": {"kind": "cron", "cron": "* * * * *"}}, 5]})");
    Strings paths;
    for (const auto& [path, message] : faults) paths.push_back(path);
    EXPECT_EQ(paths, (Strings{"/jbos", "/jobs/0/schedule/run_at", "/jobs/1/http/url",
                              "/jobs/1/last_status", "/jobs/1/max_retries", "/jobs/1/max_retry",
                              "/jobs/1/name", "/jobs/1/nmae", "/jobs/1/schedule/every",
                              "/jobs/1/schedule/run_at", "/jobs/1/version", "/jobs/2/max_retries",
                              "/jobs/3"}));
    EXPECT_EQ(faults["/jbos"], "is not known here; did you mean \"jobs\"?");
    EXPECT_EQ(faults["/jobs/1/nmae"], "is not known here; did you mean \"name\"?");
    EXPECT_EQ(faults["/jobs/1/max_retry"], "is not known here");
    EXPECT_NE(faults["/jobs/1/last_status"].find("did you mean \"success\"?"), std::string::npos);
    EXPECT_EQ(faults["/jobs/3"], "must be an object, not a number");
}

TEST(JobsFile, RefusesWhatIsNoSuchFile) {
    EXPECT_EQ(Faults("{}")["/jobs"], "is missing");
    EXPECT_EQ(Faults("[]")[""], "must be an object, not an array");
    EXPECT_NE(Faults(R"({"version": 2, "jobs": []})")["/version"], "") << "from the future";
    EXPECT_FALSE(JobsFileFromJson(""));
    EXPECT_FALSE(JobsFileFromJson(R"({"jobs": [], "jobs": []})"));
    const std::string documented = kDocumented;
    for (std::size_t n = 0; n < documented.size(); ++n) {
        EXPECT_FALSE(JobsFileFromJson(documented.substr(0, n))) << n;
    }
}

}  // namespace
}  // namespace ksana::codec

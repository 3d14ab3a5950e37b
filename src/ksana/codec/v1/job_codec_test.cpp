#include "ksana/codec/v1/job_view.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::codec {
namespace {

using namespace model;

std::string Text(Random& random) {
    static constexpr const char* kPieces[] = {"a",  "刹那", "😀", "\"", "\\",
                                              "\n", "/",    "~", "é",  "x y"};
    std::string text;
    for (std::uint64_t i = random.Below(6); i > 0; --i) text += kPieces[random.Below(10)];
    return text;
}

template <class E>
E Pick(Random& random) {
    return static_cast<E>(random.Below(kEnumCount<E>));
}

Duration Span(Random& random) {
    return Duration(static_cast<std::int64_t>(random.Below(1U << 30)));
}

CommandAction RandomCommand(Random& random) {
    CommandAction command;
    command.argv = {Text(random), Text(random)};
    command.shell = random.Below(2) == 0;
    command.environment = {{"A", Text(random)}};
    command.inherit = {Text(random)};
    command.working_directory = Text(random);
    command.user = Text(random);
    command.group = Text(random);
    command.limits.cpu = Span(random);
    if (random.Below(2) == 0) command.limits.memory = static_cast<std::int64_t>(random.Below(1000));
    command.limits.files = 1;
    command.limits.processes = 2;
    command.limits.file_size = 3;
    command.limits.core = 0;
    command.permanent_exit_codes = {2, static_cast<std::int32_t>(random.Below(256))};
    command.output_limit = static_cast<std::int64_t>(random.Below(100'000));
    return command;
}

Action RandomAction(Random& random) {
    switch (Pick<ActionKind>(random)) {
        case ActionKind::kHttp:
            return HttpAction{Pick<HttpMethod>(random),
                              Text(random),
                              {{"X-" + Text(random), Text(random)}},
                              Text(random)};
        case ActionKind::kCommand:
            return RandomCommand(random);
        case ActionKind::kHandler:
            return HandlerAction{Text(random), R"({"n":[1,2.5,null]})"};
        case ActionKind::kQueue:
            break;
    }
    return QueueAction{Text(random), Text(random), R"("text")"};
}

schedule::ScheduleSpec RandomSchedule(Random& random) {
    schedule::ScheduleSpec spec;
    spec.kind = Pick<schedule::ScheduleKind>(random);
    spec.jitter = Span(random);
    if (spec.kind == schedule::ScheduleKind::kOnce) {
        spec.run_at = TimePoint(Span(random));
        return spec;
    }
    if (spec.kind == schedule::ScheduleKind::kAfter) {
        spec.jobs = {Text(random)};
        spec.on = Pick<schedule::AfterOn>(random);
        spec.join = Pick<schedule::AfterJoin>(random);
        return spec;
    }
    spec.zone = Text(random);
    spec.calendar = Text(random);
    if (random.Below(2) == 0) spec.start_at = TimePoint(Span(random));
    if (random.Below(2) == 0) spec.end_at = TimePoint(Span(random));
    if (spec.kind == schedule::ScheduleKind::kEvery) {
        spec.every = Span(random);
    } else {
        spec.cron = Text(random);
        spec.dialect = Pick<schedule::CronDialect>(random);
        spec.day_match = Pick<schedule::DayMatch>(random);
        spec.dst.gap = Pick<schedule::GapPolicy>(random);
        spec.dst.fold = Pick<schedule::FoldPolicy>(random);
    }
    return spec;
}

Job RandomJob(Random& random) {
    Job job;
    job.id = Text(random);
    job.tenant = Text(random);
    job.group = Text(random);
    job.owner = Text(random);
    job.name = Text(random);
    job.description = Text(random);
    job.labels[Text(random)] = Text(random);
    job.enabled = random.Below(2) == 0;
    job.paused_reason = Text(random);
    job.action = RandomAction(random);
    job.schedule = RandomSchedule(random);
    job.misfire = {Pick<MisfirePolicy>(random), static_cast<int>(random.Below(99)), Span(random)};
    job.overlap = Pick<OverlapPolicy>(random);
    if (random.Below(2) == 0) {
        job.retry = RetryPolicy{
            Pick<RetryStrategy>(random), 7, Span(random), {Span(random)}, Span(random), 0.25};
    }
    if (random.Below(2) == 0) job.timeout = Span(random);
    job.stop_grace = Span(random);
    job.priority = static_cast<int>(random.Below(10));
    job.depends_on = {{Text(random), Pick<OnDependencyFailure>(random)}};
    job.run_log = Pick<RunLog>(random);
    return job;
}

TEST(JobCodec, WhatIsWrittenReadsBackTheSame) {
    SeededRandom random(1);
    for (int i = 0; i < 2'000; ++i) {
        const Job job = RandomJob(random);
        const auto back = JobFromJson(JobToJson(job));
        ASSERT_TRUE(back) << back.error().Describe() << "\n" << JobToJson(job);
        ASSERT_EQ(*back, job) << JobToJson(job);
    }
}

// The documented shape of a timer job (document K, section 4).
TEST(JobCodec, ReadsADocumentedJob) {
    const auto job = JobFromJson(R"({
        "name": "ping service", "enabled": true, "type": "http",
        "http": {"method": "GET", "url": "https://example.com/ping", "headers": {"X-Token": "abc"}},
        "schedule": {"kind": "every", "every": "5m", "jitter": "5s"}, "timeout": "10s"})");
    ASSERT_TRUE(job) << job.error().Describe();
    EXPECT_EQ(job->schedule.every, std::chrono::minutes(5));
    EXPECT_EQ(std::get<HttpAction>(job->action).headers.find("X-Token")->second, "abc");
    EXPECT_EQ(job->timeout, std::chrono::seconds(10));
}

// K-20: every fault is reported, each with its field and its reason.
TEST(JobCodec, ReportsEveryFaultOfTheShape) {
    const auto job = JobFromJson(R"({
        "nam": "x", "enabled": "yes", "type": "http", "http": {"method": "FETCH"},
        "schedule": {"kind": "every", "every": "5 minutes", "cron": "* * * * *"},
        "timeout": 10, "priority": 5.5, "labels": {"a": 1}, "queue": {"type": "t"},
        "depends_on": [{"job": "a"}, {"on_failure": "explode"}]})");
    ASSERT_FALSE(job);
    std::map<std::string, std::string> problems;
    for (const Problem& problem : job.error().problems) problems[problem.path] = problem.message;
    const std::vector<std::string> paths = {"/depends_on/1/job",
                                            "/depends_on/1/on_failure",
                                            "/enabled",
                                            "/http/method",
                                            "/http/url",
                                            "/labels/a",
                                            "/nam",
                                            "/name",
                                            "/priority",
                                            "/queue",
                                            "/schedule/cron",
                                            "/schedule/every",
                                            "/timeout"};
    std::vector<std::string> found;
    for (const auto& [path, message] : problems) found.push_back(path);
    EXPECT_EQ(found, paths);
    EXPECT_EQ(problems["/nam"], "is not known here; did you mean \"name\"?");
    EXPECT_EQ(problems["/enabled"], "must be a boolean, not a string");
    EXPECT_EQ(problems["/queue"], "does not go with type \"http\"");
    EXPECT_EQ(problems["/timeout"], "must be a string, not a number");
    EXPECT_NE(problems["/http/method"].find("GET, POST"), std::string::npos);
}

}  // namespace
}  // namespace ksana::codec

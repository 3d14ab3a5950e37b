#include "ksana/codec/records/record_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/model/job/job_tally.hpp"
#include "support/fill.hpp"

namespace ksana::codec {
namespace {

using namespace model;
namespace json = boost::json;

// The record as a tree of values, for tests that change it.
json::value RecordValue(const Record& record) {
    const std::string line = RecordToLine(record);
    return ParseJson(line, {.bytes = line.size()}).value();
}

::testing::AssertionResult Survives(const Record& record) {
    const std::string line = RecordToLine(record);
    if (line.find('\n') != std::string::npos) {
        return ::testing::AssertionFailure() << "more than one line: " << line;
    }
    const auto back = RecordFromLine(line);
    if (!back) return ::testing::AssertionFailure() << back.error().Describe() << "\n" << line;
    if (*back != record) return ::testing::AssertionFailure() << "not the same: " << line;
    if (WriteJson(RecordValue(record)) != line) {
        return ::testing::AssertionFailure() << "value and line differ: " << line;
    }
    return ::testing::AssertionSuccess();
}

template <class T>
class RecordOf : public ::testing::Test {};

using Kinds = ::testing::Types<Job, Run, Attempt, LedgerEntry, AuditEvent, Document>;
TYPED_TEST_SUITE(RecordOf, Kinds);

TYPED_TEST(RecordOf, SurvivesAsItsDefault) { EXPECT_TRUE(Survives(TypeParam{})); }

// Each member alone: a member that the codec omits comes back as its default.
TYPED_TEST(RecordOf, SurvivesWithAnyMemberChanged) {
    SeededRandom random(1);
    testing::Filler filler(random);
    for (int i = 0; i < 100; ++i) {
        for (const TypeParam& record : filler.EachMemberChanged<TypeParam>()) {
            ASSERT_TRUE(Survives(record));
        }
    }
}

TYPED_TEST(RecordOf, SurvivesWithEveryMemberChanged) {
    SeededRandom random(2);
    testing::Filler filler(random);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(Survives(filler.Populated<TypeParam>()));
}

TYPED_TEST(RecordOf, SurvivesWithAnyBytes) {
    SeededRandom random(3);
    testing::Filler filler(random, true);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(Survives(filler.Populated<TypeParam>()));
}

// The parts of a record, each member alone.
TEST(RecordCodec, PartsSurviveWithAnyMemberChanged) {
    SeededRandom random(4);
    testing::Filler filler(random);
    const auto check = [&filler]<class Whole, class Part>(Part Whole::*part) {
        for (int i = 0; i < 50; ++i) {
            for (const Part& value : filler.EachMemberChanged<Part>()) {
                std::conditional_t<std::is_same_v<Whole, model::JobDefinition>, Job, Whole> whole;
                whole.*part = value;
                ASSERT_TRUE(Survives(whole));
            }
        }
    };
    check(&model::Run::status);
    check(&model::Run::unique);
    check(&model::Run::policy);
    check(&Job::schedule);
    check(&Job::misfire);
    check(&LedgerEntry::range);
    for (const RetryPolicy& retry : filler.EachMemberChanged<RetryPolicy>()) {
        Job job;
        job.retry = retry;
        ASSERT_TRUE(Survives(job));
        model::Run run;
        run.policy.retry = retry;
        ASSERT_TRUE(Survives(run));
    }
}

// "" differs from absent, and none from a default that is set.
TEST(RecordCodec, KeepsNoneApartFromEmpty) {
    Job job;
    job.retry = RetryPolicy{};
    job.timeout = Duration::zero();
    job.state.next_run_at = TimePoint{};
    job.state.last_state = RunState::kScheduled;
    job.labels[""] = "";
    job.depends_on.emplace_back();
    EXPECT_TRUE(Survives(job));
    model::Run run;
    run.parent = Uuid{};
    run.unique.states = 0;
    run.status.outcome = AttemptOutcome::kSucceeded;
    run.status.last_report = EventKind::kDue;
    EXPECT_TRUE(Survives(run));
}

// The exact text of JSON is kept, for example for a hash over a payload or a number too long for a
// double.
TEST(RecordCodec, KeepsJsonInsideByteByByte) {
    for (const char* text : {"null", "", " { \"b\" : 1.0 , \"a\":12345678901234567890123 } ", "{,",
                             "\"\\u00e9\"", "[1e999]"}) {
        EXPECT_TRUE(Survives(Job{{.action = HandlerAction{"h", text}}})) << text;
        EXPECT_TRUE(Survives(Job{{.action = QueueAction{"t", "c", text}}})) << text;
        EXPECT_TRUE(Survives(model::Run{.payload = text})) << text;
        EXPECT_TRUE(Survives(Document{.kind = "k", .key = "k", .body = text})) << text;
    }
}

// Longer than ParseJson accepts from users: a store must read what it wrote.
TEST(RecordCodec, HasNoLimitOfLength) {
    EXPECT_TRUE(Survives(model::Run{.payload = std::string(1 << 20, '\x01')}));
}

// The format on disk. After a change of these lines, the old ones must still be readable.
TEST(RecordCodec, WritesTheseLines) {
    const TimePoint at = *ParseTime("2026-01-02T03:04:05.000006Z");
    model::Run run;
    run.id = *Uuid::Parse("0190b6a5-7c1e-7d2a-8f3b-123456789abc");
    run.job_id = "j";
    run.trigger = RunTrigger::kFire;
    run.nominal_at = at;
    run.payload = R"({"a": 1})";
    run.unique = {"k", SetOf(RunState::kQueued) | SetOf(RunState::kRunning), {}};
    run.policy.timeout = std::chrono::minutes(90);
    run.status.state = RunState::kRunning;
    run.status.attempt = 1;
    EXPECT_EQ(
        RecordToLine(run),
        R"({"run":{"id":"0190b6a5-7c1e-7d2a-8f3b-123456789abc","job_id":"j","trigger":"fire",)"
        R"("nominal_at":"2026-01-02T03:04:05.000006Z","payload":"{\"a\": 1}",)"
        R"("unique":{"key":"k","states":["queued","running"]},"policy":{"timeout":"1h30m"},)"
        R"("status":{"state":"running","attempt":1}}})");
    Job job{
        {.id = "j", .name = "n", .action = HttpAction{HttpMethod::kPost, "http://h/", {}, "b"}}};
    job.schedule.kind = schedule::ScheduleKind::kEvery;
    job.schedule.every = std::chrono::minutes(5);
    job.state.created_at = at;
    job.state.total_runs = 7;
    EXPECT_EQ(RecordToLine(job), R"({"job":{"id":"j","name":"n","type":"http",)"
                                 R"("http":{"method":"POST","url":"http://h/","body":"b"},)"
                                 R"("schedule":{"kind":"every","every":"5m"},)"
                                 R"("created_at":"2026-01-02T03:04:05.000006Z","total_runs":7}})");
    const LedgerEntry entry{3, "j", {FireFate::kSkippedPaused, {2, at, at}}, at};
    EXPECT_EQ(RecordToLine(entry),
              R"({"ledger":{"seq":3,"job_id":"j","fate":"skipped_paused","count":2,)"
              R"("first":"2026-01-02T03:04:05.000006Z","last":"2026-01-02T03:04:05.000006Z",)"
              R"("recorded_at":"2026-01-02T03:04:05.000006Z"}})");
    EXPECT_EQ(RecordToLine(Attempt{.number = 2, .error = "\xFF"}),
              R"({"attempt":{"run_id":"00000000-0000-0000-0000-000000000000","number":2,)"
              R"("error":{"hex":"ff"}}})");
    EXPECT_EQ(RecordToLine(AuditEvent{.seq = 1, .action = "created"}),
              R"({"event":{"seq":1,"action":"created"}})");
    EXPECT_EQ(RecordToLine(Document{"lock", "a", 1, "{}", at, {}}),
              R"({"document":{"kind":"lock","key":"a","version":1,"body":"{}",)"
              R"("updated_at":"2026-01-02T03:04:05.000006Z"}})");
}

std::vector<std::string> Paths(std::string_view line) {
    const auto parsed = RecordFromLine(line);
    std::vector<std::string> paths;
    if (parsed) return {"no fault"};
    for (const Problem& problem : parsed.error().problems) paths.push_back(problem.path);
    return paths;
}

TEST(RecordCodec, NamesEveryFault) {
    using Strings = std::vector<std::string>;
    EXPECT_EQ(Paths(R"({"run":{"idd":"x","tenant":7,"status":{"state":"runing","fence":1.5},
                        "unique":{"states":["queued","quod"]},"policy":{"retry":{"max":1}},
                        "parent":"1234","created_at":"yesterday","priority":4294967296}})"),
              (Strings{"/run/id", "/run/tenant", "/run/priority", "/run/unique/states/1",
                       "/run/parent", "/run/policy/retry/max", "/run/created_at",
                       "/run/status/state", "/run/status/fence", "/run/idd"}));
    EXPECT_EQ(Paths(R"({"attempt":{}})"), (Strings{"/attempt/run_id", "/attempt/number"}));
    EXPECT_EQ(Paths(R"({"ledger":{"range":{}}})"),
              (Strings{"/ledger/seq", "/ledger/job_id", "/ledger/range"}));
    EXPECT_EQ(Paths(R"({"event":{"seq":9223372036854775808}})"), (Strings{"/event/seq"}));
    EXPECT_EQ(Paths(R"({"document":{"kind":"k"}})"), (Strings{"/document/key"}));
    EXPECT_EQ(Paths(R"({"job":{"id":"a","http":{"hedaers":{}},"command":{}}})"),
              (Strings{"/job/http/hedaers", "/job/command"}));
    EXPECT_EQ(Paths(R"({"job":{"id":"a"}})"), (Strings{"/job/http"}));
    const auto unknown = RecordFromLine(R"({"jbo":{}})");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().Describe().find("did you mean \"job\"?"), std::string::npos);
    // A line holds exactly one record.
    EXPECT_EQ(Paths("{}"), (Strings{""}));
    EXPECT_EQ(Paths("[]"), (Strings{""}));
    EXPECT_EQ(Paths(R"({"run":null})"), (Strings{""}));
    EXPECT_EQ(Paths(R"({"attempt":{"run_id":"0190b6a5-7c1e-7d2a-8f3b-123456789abc","number":1},
                        "event":{"seq":1}})"),
              (Strings{""}));
}

TEST(RecordCodec, RefusesMembersThatStandTwice) {
    for (const char* line : {R"({"event":{"seq":1,"seq":2}})", R"({"event":{"seq":1},"event":{}})",
                             R"({"job":{"id":"a","http":{},"labels":{"x":"1","x":"2"}}})"}) {
        const auto parsed = RecordFromLine(line);
        ASSERT_FALSE(parsed) << line;
        EXPECT_NE(parsed.error().message.find("stands twice"), std::string::npos) << line;
    }
    EXPECT_EQ(Paths(R"({"job":{"id":"a","http":{},"labels":[["x","1"],["x","2"],["y"]]}})"),
              (std::vector<std::string>{"/job/labels/1/0", "/job/labels/2"}));
}

TEST(RecordCodec, ReadsOnlyWholeHexadecimalBytes) {
    for (const char* text : {R"({"hex":"f"})", R"({"hex":"fg"})", R"({"hex":1})", R"({"hx":"ff"})",
                             R"({"hex":"ff","b":1})", "{}"}) {
        const std::string line = R"({"event":{"seq":1,"user":)" + std::string(text) + "}}";
        EXPECT_EQ(Paths(line), (std::vector<std::string>{"/event/user"})) << text;
    }
}

// Calls see(pointer, value) for every value other than an object or array.
template <class F>
void EachLeaf(json::value& value, const std::string& pointer, const F& see) {
    if (auto* object = value.if_object()) {
        for (auto& member : *object) {
            EachLeaf(member.value(), pointer + PointerStep(member.key()), see);
        }
    } else if (auto* array = value.if_array()) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            EachLeaf((*array)[i], pointer + "/" + std::to_string(i), see);
        }
    } else {
        see(pointer, value);
    }
}

TYPED_TEST(RecordOf, RefusesAnyMemberOfAnotherType) {
    SeededRandom random(5);
    testing::Filler filler(random);
    for (int i = 0; i < 20; ++i) {
        json::value value = RecordValue(filler.Populated<TypeParam>());
        EachLeaf(value, "", [&value](const std::string& pointer, json::value& leaf) {
            const json::value before = std::exchange(leaf, json::object{{"x", 1}});
            const std::vector<std::string> paths = Paths(WriteJson(value));
            EXPECT_NE(std::find(paths.begin(), paths.end(), pointer), paths.end())
                << pointer << " in " << WriteJson(value);
            leaf = before;
        });
    }
}

TYPED_TEST(RecordOf, RefusesALineThatIsCutOff) {
    SeededRandom random(6);
    const std::string line = RecordToLine(testing::Filler(random).Populated<TypeParam>());
    for (std::size_t n = 0; n < line.size(); ++n) {
        ASSERT_FALSE(RecordFromLine(std::string_view(line).substr(0, n))) << n;
    }
}

// Definitions come from users and must not contain what the server keeps.
TEST(RecordCodec, DefinitionsRefuseWhatTheEngineKeeps) {
    SeededRandom random(7);
    const auto job = testing::Filler(random).Populated<Job>();
    json::object members = RecordValue(job).at("job").as_object();
    for (const char* key :
         {"version", "created_at", "updated_at", "planned_until", "next_run_at", "last_run_at",
          "last_state", "last_error", "total_runs", "consecutive_failures"}) {
        ASSERT_TRUE(members.contains(key)) << key;
        const json::object definition{{"name", "n"},
                                      {"http", {{"url", "http://h/"}}},
                                      {"schedule", {{"kind", "every"}, {"every", "5m"}}},
                                      {key, members.at(key)}};
        const auto parsed = JobFromJson(WriteJson(definition));
        ASSERT_FALSE(parsed) << key;
        ASSERT_EQ(parsed.error().problems.size(), 1U);
        EXPECT_EQ(parsed.error().problems[0].path, std::string("/") + key);
    }
}

TEST(RecordCodec, ADefinitionIsTheJobWithoutWhatIsKeptAboutIt) {
    SeededRandom random(8);
    testing::Filler filler(random);
    for (int i = 0; i < 50; ++i) {
        const auto job = filler.Populated<Job>();
        const Job definition{job.definition()};
        EXPECT_EQ(DefinitionToLine(job), RecordToLine(definition));
    }
}

TEST(RecordCodec, IsReadInsideADocumentOfAnotherForm) {
    model::Run run;
    run.status.last_error = "\xFF";
    const json::value value{{"record", RecordValue(run)}, {"bad", {{"hex", "ff"}}}};
    JsonReader reader;
    Record record;
    ReadRecord(reader, {value.at("record"), "/record"}, record);
    EXPECT_TRUE(reader.Clean());
    EXPECT_EQ(record, Record(run));
    ReadRecord(reader, {value.at("bad"), "/bad"}, record);
    EXPECT_EQ(record, Record(run)) << "kept where there is a fault";
    std::string text;
    reader.Read({value.at("bad"), "/bad"}, text);
    EXPECT_EQ(reader.ProblemCount(), 3U) << "a definition again";
}

}  // namespace
}  // namespace ksana::codec

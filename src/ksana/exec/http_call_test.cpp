#include "ksana/exec/http_call.hpp"

#include <gtest/gtest.h>

#include "ksana/exec/attempt_fixture.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::exec {
namespace {

using http_client::CallRequest;
using http_client::FindHeader;
using std::chrono::seconds;

Result<CallRequest> Build(const engine::ActiveAttempt& attempt) {
    return BuildCall(attempt, StartOfAttempt());
}

CallRequest Built(const engine::ActiveAttempt& attempt) {
    auto call = Build(attempt);
    EXPECT_TRUE(call) << call.error().message;
    return call ? std::move(call).value() : CallRequest{};
}

std::string HeaderOf(const CallRequest& call, std::string_view name) {
    const std::string* value = FindHeader(call.headers, name);
    return value == nullptr ? "(none)" : *value;
}

std::string FaultOf(const engine::ActiveAttempt& attempt) {
    const auto call = Build(attempt);
    return call ? "(none)" : call.error().message;
}

// SHA-256 of "ksana attempt exec-2", its first half: who has the exec_id itself may report on the
// run.
constexpr std::string_view kAttemptId = "41964027b7ee0e10c4bf3b9f9cb63d0a";

TEST(BuildCall, CarriesTheHeadersThatIdentifyTheAttempt) {  // K-10
    const auto call = Built(AttemptOf({.url = "http://host/path"}));
    EXPECT_EQ(call.method, HttpMethod::kGet);
    EXPECT_EQ(call.url, "http://host/path");
    EXPECT_EQ(HeaderOf(call, "X-Ksana-Run-Id"), "0192f0c1-2345-7abc-8def-0123456789ab");
    EXPECT_EQ(HeaderOf(call, "Ksana-Run-Id"), "0192f0c1-2345-7abc-8def-0123456789ab");
    EXPECT_EQ(HeaderOf(call, "Ksana-Job-Id"), "job-1");
    EXPECT_EQ(HeaderOf(call, "Ksana-Exec-Id"), kAttemptId);
    EXPECT_EQ(HeaderOf(call, "Ksana-Attempt"), "2");
    EXPECT_EQ(HeaderOf(call, "Ksana-Fence"), "5");
    EXPECT_EQ(HeaderOf(call, "Ksana-Scheduled-At"), "2026-03-01T08:00:00Z");
    EXPECT_EQ(HeaderOf(call, "Ksana-Deadline"), "2026-03-01T08:00:11Z");
    EXPECT_TRUE(HeaderOf(call, "User-Agent").starts_with("ksana/"));
    EXPECT_EQ(HeaderOf(call, "Content-Type"), "(none)");
    const std::string trace = HeaderOf(call, "traceparent");
    EXPECT_EQ(trace.size(), 55U);
    EXPECT_TRUE(trace.starts_with("00-0192f0c123457abc8def0123456789ab-")) << trace;
    EXPECT_TRUE(trace.ends_with("-01"));
}

TEST(BuildCall, EveryAttemptIsItsOwnSpanOfTheRunsTrace) {
    engine::ActiveAttempt attempt = AttemptOf({.url = "http://host/"});
    const std::string first = model::TraceParentOf(attempt.run);
    attempt.run.status.attempt += 1;
    const std::string second = model::TraceParentOf(attempt.run);
    EXPECT_EQ(first.substr(0, 36), second.substr(0, 36));
    EXPECT_NE(first, second);
}

TEST(BuildCall, TheJobsHeadersWinExceptOverOurOwn) {
    const auto call = Built(AttemptOf({.method = HttpMethod::kPost,
                                       .url = "http://host/",
                                       .headers = {{"user-agent", "mine"},
                                                   {"content-type", "text/plain"},
                                                   {"traceparent", "00-1-2-00"},
                                                   {"ksana-run-id", "forged"},
                                                   {"x-ksana-run-id", "forged"},
                                                   {"X-Attempt", "no {{attempt}} of {{job_name}}"}},
                                       .body = "{\"a\":1}"}));
    EXPECT_EQ(HeaderOf(call, "User-Agent"), "mine");
    EXPECT_EQ(HeaderOf(call, "Content-Type"), "text/plain");
    EXPECT_EQ(HeaderOf(call, "traceparent"), "00-1-2-00");
    EXPECT_EQ(HeaderOf(call, "Ksana-Run-Id"), "0192f0c1-2345-7abc-8def-0123456789ab");
    EXPECT_EQ(HeaderOf(call, "X-Ksana-Run-Id"), "0192f0c1-2345-7abc-8def-0123456789ab");
    EXPECT_EQ(HeaderOf(call, "X-Attempt"), "no 2 of Nightly \"report\"");
    for (const auto& header : call.headers) EXPECT_NE(header.value, "forged");
}

TEST(BuildCall, PlaceholdersStandForTheRunAndItsParameters) {  // K-10
    engine::ActiveAttempt attempt =
        AttemptOf({.method = HttpMethod::kPost,
                   .url = "http://host/{{job_id}}/{{params.city}}?n={{n}}",
                   .body = R"({"job":"{{job_id}}","name":"{{job_name}}",)"
                           R"("run":"{{run_id}}","exec":"{{exec_id}}",)"
                           R"("at":"{{scheduled_at}}","by":"{{triggered_at}}",)"
                           R"("attempt":{{attempt}},"fence":{{fence}},)"
                           R"("tenant":{{tenant}},"city":"{{city}}","n":{{params.n}},)"
                           R"("all":{{params}},)"
                           R"("attempt_param":"{{params.attempt}}"})"});
    attempt.run.payload = R"({"city":"Köln & \"Bonn\"","n":1.5,"attempt":"mine"})";
    const auto call = Built(attempt);
    EXPECT_EQ(call.url, "http://host/job-1/K%C3%B6ln%20%26%20%22Bonn%22?n=1.5");
    EXPECT_EQ(call.body,
              R"({"job":"job-1","name":"Nightly \"report\"",)"
              R"("run":"0192f0c1-2345-7abc-8def-0123456789ab","exec":")" +
                  std::string(kAttemptId) +
                  R"(",)"
                  R"("at":"2026-03-01T08:00:00Z","by":"2026-03-01T08:00:01Z",)"
                  R"("attempt":2,"fence":5,"tenant":"acme","city":"Köln & \"Bonn\"","n":1.5,)"
                  R"("all":{"city":"Köln & \"Bonn\"","n":1.5,"attempt":"mine"},)"
                  R"("attempt_param":"mine"})");
    EXPECT_EQ(HeaderOf(call, "Content-Type"), "application/json");
}

TEST(BuildCall, ServiceValuesOfAJsonBodyAreFilled) {  // K-10
    const auto json =
        Built(AttemptOf({.method = HttpMethod::kPost,
                         .url = "http://host/",
                         .body = R"({ "job_id": "<filled-by-service>", "x": 1.0 })"}));
    EXPECT_EQ(json.body, R"({ "job_id": "job-1", "x": 1.0 })");
    const auto text = Built(AttemptOf({.method = HttpMethod::kPost,
                                       .url = "http://host/",
                                       .body = R"(text "job_id": "<filled-by-service>")"}));
    EXPECT_EQ(text.body, R"(text "job_id": "<filled-by-service>")");
}

TEST(BuildCall, ARunWithoutANominalTimeWasScheduledWhenItWasMade) {
    engine::ActiveAttempt attempt = AttemptOf({.url = "http://host/{{scheduled_at}}"});
    attempt.run.nominal_at.reset();
    EXPECT_EQ(Built(attempt).url, "http://host/2026-03-01T07%3A59%3A00Z");
}

TEST(BuildCall, ATextBodyTakesValuesAsTheyAre) {
    const auto call = Built(AttemptOf({.method = HttpMethod::kPut,
                                       .url = "http://host/",
                                       .body = "{{job_name}} is {{{{literal}}"}));
    EXPECT_EQ(call.body, "Nightly \"report\" is {{literal}}");
    EXPECT_EQ(HeaderOf(call, "Content-Type"), "(none)");
}

TEST(BuildCall, ASignedCallHasTheSignatureOfItsType) {
    const engine::ActiveAttempt attempt = AttemptOf({.method = HttpMethod::kPost,
                                                     .url = "http://host/",
                                                     .headers = {{"Webhook-Id", "forged"}},
                                                     .body = "{}",
                                                     .sign_as = "shop"});
    EXPECT_EQ(FaultOf(attempt), "only servers sign calls, and this is a worker");
    HttpCallOptions options;
    options.keys_of = [](const std::string& type) -> Result<engine::SigningKeys> {
        if (type != "shop") return Error(Code::kNotFound, "no such type");
        return engine::SigningKeys{.access_key = "key-1", .secrets = {"s"}};
    };
    const auto call = BuildCall(attempt, StartOfAttempt(), options);
    ASSERT_TRUE(call);
    const auto count = std::ranges::count_if(call->headers, [](const http_client::Header& header) {
        return header.name == "webhook-id" || header.name == "Webhook-Id";
    });
    EXPECT_EQ(count, 1);
    EXPECT_EQ(HeaderOf(*call, "webhook-id"), HeaderOf(*call, "Ksana-Run-Id"));
    EXPECT_TRUE(HeaderOf(*call, "webhook-signature").starts_with("v1,"));
    EXPECT_TRUE(HeaderOf(*call, "Ksana-Signature").starts_with("v1,"));
    EXPECT_EQ(HeaderOf(*call, "Ksana-Access-Key"), "key-1");
    options.keys_of = [](const std::string&) -> Result<engine::SigningKeys> {
        return Error(Code::kUnavailable, "the store is away");
    };
    EXPECT_EQ(BuildCall(attempt, StartOfAttempt(), options).error().code, Code::kUnavailable);
}

TEST(BuildCall, AFormIsSentAsOne) {
    engine::ActiveAttempt attempt = AttemptOf(
        {.method = HttpMethod::kPost, .url = "http://host/", .body = "user={{user}}&role=guest"});
    attempt.run.payload = R"({"user":"eve&role=admin"})";
    const auto call = Built(attempt);
    EXPECT_EQ(call.body, "user=eve%26role%3Dadmin&role=guest");
    EXPECT_EQ(HeaderOf(call, "Content-Type"), "application/x-www-form-urlencoded");
}

TEST(BuildCall, WhatCannotBeSentSaysWhy) {
    EXPECT_EQ(FaultOf(AttemptOf({.url = "http://host/{{nobody}}"})),
              "there is no value for the placeholder \"nobody\"");
    EXPECT_EQ(FaultOf(AttemptOf({.url = "http://host/", .body = "{{params.x}}"})),
              "the body: there is no value for the placeholder \"params.x\"");
    EXPECT_EQ(FaultOf(AttemptOf({.url = "http://host/", .headers = {{"X-A", "{{x}}"}}})),
              "the header X-A: there is no value for the placeholder \"x\"");
    EXPECT_NE(FaultOf(AttemptOf({.url = "ftp://host/"})), "(none)");
    EXPECT_NE(FaultOf(AttemptOf({.url = "http://user@host/"})), "(none)");
    EXPECT_NE(FaultOf(AttemptOf({.url = "http://host/", .headers = {{"Host", "x"}}})), "(none)");
    engine::ActiveAttempt injected =
        AttemptOf({.url = "http://host/", .headers = {{"X-A", "{{v}}"}}});
    injected.run.payload = R"({"v":"1\r\nX-B: 2"})";
    EXPECT_EQ(FaultOf(injected),
              "the header X-A: the value of the placeholder \"v\" holds a line break or another "
              "control character");
    engine::ActiveAttempt bad_payload = AttemptOf({.url = "http://host/"});
    bad_payload.run.payload = "[1]";
    EXPECT_EQ(FaultOf(bad_payload), "the run's parameters: not a JSON object");
    engine::ActiveAttempt deleted = AttemptOf({.url = "http://host/"});
    deleted.job = nullptr;
    EXPECT_EQ(FaultOf(deleted), "the job does not exist any more");
    engine::ActiveAttempt changed = AttemptOf({.url = "http://host/"});
    auto job = std::make_shared<model::Job>(*changed.job);
    job->action = model::CommandAction{};
    changed.job = job;
    EXPECT_EQ(FaultOf(changed), "the job does not call a URL any more");
}

TEST(BuildCall, TheTimeoutIsWhatIsLeftOfTheAttempt) {
    engine::ActiveAttempt attempt = AttemptOf({.url = "http://host/"});
    EXPECT_EQ(BuildCall(attempt, StartOfAttempt()).value().timeout, seconds(10));
    EXPECT_EQ(BuildCall(attempt, StartOfAttempt() + seconds(7)).value().timeout, seconds(3));
    EXPECT_EQ(BuildCall(attempt, StartOfAttempt() + seconds(7)).value().connect_timeout,
              seconds(3));
    EXPECT_EQ(BuildCall(attempt, StartOfAttempt() - seconds(60)).value().timeout, seconds(10))
        << "a clock that was set back gives no more time than the policy";
    // This node's clock is 90 s ahead of the store's, whose clock the deadline refers to.
    attempt.store_offset = -seconds(90);
    EXPECT_EQ(BuildCall(attempt, StartOfAttempt() + seconds(97)).value().timeout, seconds(3));
    attempt.store_offset = {};
    const auto late = BuildCall(attempt, StartOfAttempt() + seconds(10));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace ksana::exec

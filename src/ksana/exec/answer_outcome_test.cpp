#include "ksana/exec/answer_outcome.hpp"

#include <gtest/gtest.h>

#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/exec/answer_outcome.hpp"
#include "ksana/exec/attempt_fixture.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::exec {
namespace {

using http_client::CallAnswer;
using http_client::CallError;
using model::EventKind;
using std::chrono::hours;
using std::chrono::seconds;

const CallContext kContext{"host:80", seconds(10), seconds(10), "0192f0c123457abc8def0123456789ab"};

model::Event Outcome(const CallAnswer& answer) {
    return OutcomeOf(answer, kContext, At("2026-03-01T08:00:00Z"));
}

model::Event OfStatus(int status, std::vector<http_client::Header> headers = {}) {
    return Outcome({.status = status, .headers = std::move(headers)});
}

std::string MemberOf(const std::string& object, std::string_view name) {
    const auto members = codec::JsonMembers(object);
    EXPECT_TRUE(members) << object;
    for (const auto& member : members.value()) {
        if (member.name == name) return member.text;
    }
    return "(none)";
}

TEST(AnswerOutcome, TheStatusDecides) {  // K-09
    EXPECT_EQ(OfStatus(200).kind, EventKind::kSuccess);
    EXPECT_EQ(OfStatus(204).kind, EventKind::kSuccess);
    EXPECT_EQ(OfStatus(204).error, "");
    for (const int status : {408, 425, 429, 500, 503, 599}) {
        EXPECT_EQ(OfStatus(status).kind, EventKind::kRetryableFailure) << status;
    }
    for (const int status : {301, 302, 400, 401, 404, 410, 422}) {
        EXPECT_EQ(OfStatus(status).kind, EventKind::kPermanentFailure) << status;
    }
    EXPECT_EQ(OfStatus(503).error, "HTTP 503 from host:80");
}

TEST(AnswerOutcome, ErrorsBeforeAnAnswerAreToldApart) {  // K-09
    const auto kind = [](CallError error) { return Outcome({.error = error}).kind; };
    EXPECT_EQ(kind(CallError::kDns), EventKind::kRetryableFailure);
    EXPECT_EQ(kind(CallError::kConnect), EventKind::kRetryableFailure);
    EXPECT_EQ(kind(CallError::kTls), EventKind::kRetryableFailure);
    EXPECT_EQ(kind(CallError::kProtocol), EventKind::kRetryableFailure);
    EXPECT_EQ(kind(CallError::kOther), EventKind::kRetryableFailure);
    EXPECT_EQ(kind(CallError::kTimeout), EventKind::kTimeout);
    EXPECT_EQ(kind(CallError::kEgressRefused), EventKind::kPermanentFailure);
    EXPECT_EQ(kind(CallError::kTooManyRedirects), EventKind::kPermanentFailure);
    EXPECT_EQ(kind(CallError::kCancelled), EventKind::kCancelled);
    const auto broken = Outcome({.error = CallError::kProtocol, .error_text = "x", .status = 200});
    EXPECT_EQ(broken.kind, EventKind::kRetryableFailure) << "a status alone is no answer";
    EXPECT_EQ(broken.error, "x");
    CallAnswer late{.error = CallError::kTimeout, .error_text = "no answer from 1.2.3.4:80"};
    late.timings.connect = Duration(5);
    EXPECT_EQ(Outcome(late).error, "no answer from 1.2.3.4:80 within 10s");
}

TEST(AnswerOutcome, WhetherSomebodyIsThere) {
    using model::TargetHealth;
    for (const int status : {200, 301, 404, 408, 429, 500, 501}) {
        EXPECT_EQ(OfStatus(status).target, TargetHealth::kAnswered) << status;
    }
    for (const int status : {502, 503, 504}) {
        EXPECT_EQ(OfStatus(status).target, TargetHealth::kUnavailable) << status;
    }
    const auto sign = [](CallError error) { return Outcome({.error = error}).target; };
    EXPECT_EQ(sign(CallError::kDns), TargetHealth::kDown);
    EXPECT_EQ(sign(CallError::kConnect), TargetHealth::kDown);
    EXPECT_EQ(sign(CallError::kTls), TargetHealth::kDown);
    EXPECT_EQ(sign(CallError::kTimeout), TargetHealth::kDown) << "not even connected";
    EXPECT_EQ(sign(CallError::kCancelled), TargetHealth::kNone);
    EXPECT_EQ(sign(CallError::kEgressRefused), TargetHealth::kNone);
    EXPECT_EQ(sign(CallError::kProtocol), TargetHealth::kNone);
    EXPECT_EQ(Outcome({.error = CallError::kTimeout, .reused = true}).target, TargetHealth::kNone);
    CallAnswer slow{.error = CallError::kTimeout};
    slow.timings.connect = Duration(5);
    EXPECT_EQ(Outcome(slow).target, TargetHealth::kNone) << "its job may allow too little";
}

TEST(AnswerOutcome, TheTargetMaySayWhenAndWhether) {
    EXPECT_EQ(OfStatus(503, {{"Retry-After", "120"}}).after, Duration(seconds(120)));
    EXPECT_EQ(OfStatus(429, {{"retry-after", "Sun, 01 Mar 2026 08:05:00 GMT"}}).after,
              Duration(seconds(300)));
    EXPECT_EQ(OfStatus(503, {{"Retry-After", "soon"}}).after, std::nullopt);
    EXPECT_EQ(OfStatus(503).after, std::nullopt);
    EXPECT_EQ(OfStatus(404, {{"Retry-After", "120"}}).after, std::nullopt);
    EXPECT_EQ(OfStatus(503, {{"Ksana-Retry", "no"}}).kind, EventKind::kPermanentFailure);
    EXPECT_EQ(OfStatus(503, {{"Ksana-Retry", "yes"}}).kind, EventKind::kRetryableFailure);
    EXPECT_EQ(OfStatus(200, {{"Ksana-Retry", "no"}}).kind, EventKind::kSuccess);
}

TEST(AnswerOutcome, RetryAfterIsReadStrictlyAndBounded) {
    const TimePoint now = At("2026-03-01T08:00:00Z");
    EXPECT_EQ(ParseRetryAfter("0", now), Duration::zero());
    EXPECT_EQ(ParseRetryAfter("86401", now), Duration(hours(24)));
    EXPECT_EQ(ParseRetryAfter("99999999999999999999", now), Duration(hours(24)));
    EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", now), Duration::zero());
    EXPECT_EQ(ParseRetryAfter("Thu, 01 Jan 2099 00:00:00 GMT", now), Duration(hours(24)));
    for (const auto* text :
         {"", "-1", "1.5", "+1", "Sun, 31 Feb 2026 08:05:00 GMT", "Sun, 01 Mar 2026 24:00:00 GMT",
          "Sun, 01 Mar 2026 08:05:00 UTC", "Sun, 01 Mär 2026 08:05:00 GMT",
          "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, -1 Mar 2026 08:05:00 GMT"}) {
        EXPECT_EQ(ParseRetryAfter(text, now), std::nullopt) << text;
    }
}

TEST(AnswerOutcome, AJsonBodyIsTheResult) {
    const auto result = [](std::string body, bool truncated = false) {
        return Outcome({.status = 200, .body = std::move(body), .body_truncated = truncated})
            .result;
    };
    EXPECT_EQ(result("{ \"a\": 1.50 }"), "{ \"a\": 1.50 }") << "as it came";
    EXPECT_EQ(result("plain text"), "");
    EXPECT_EQ(result(""), "");
    EXPECT_EQ(result("[1]", true), "");
    EXPECT_EQ(result("\"" + std::string(kMaxResult, 'x') + "\""), "");
    EXPECT_EQ(result("\"\xff\""), "");
    EXPECT_EQ(Outcome({.status = 500, .body = "[1]"}).result, "");
}

TEST(AnswerOutcome, TheDetailTellsWhatHappened) {
    CallAnswer answer{.status = 503, .body = "not \"now\"\n", .remote = "1.2.3.4:80"};
    answer.timings = {Duration(100), Duration(2500), {}, Duration(30'000), Duration(31'250)};
    EXPECT_EQ(Outcome(answer).detail,
              R"({"status":503,"remote":"1.2.3.4:80","timings":{"dns_ms":0.100,"connect_ms":2.500,)"
              R"("tls_ms":0.000,"first_byte_ms":30.000,"total_ms":31.250},"body":"not \"now\"\n",)"
              R"("body_truncated":false,"trace_id":"0192f0c123457abc8def0123456789ab"})");
    const auto refused = Outcome({.error = CallError::kConnect, .remote = "1.2.3.4:80"});
    EXPECT_EQ(MemberOf(refused.detail, "error_kind"), "connect");
    EXPECT_EQ(MemberOf(refused.detail, "body"), "(none)");
}

TEST(AnswerOutcome, AnyBodyGivesADetailThatAStoreKeeps) {
    std::string bytes;
    for (int i = 0; i < 20'000; ++i) bytes += static_cast<char>(i * 7);
    const auto event = Outcome({.status = 500, .body = bytes});
    EXPECT_LE(event.detail.size(), store::kMaxPayload);
    EXPECT_TRUE(IsUtf8(event.detail));
    EXPECT_EQ(event.detail.find('\0'), std::string::npos);
    EXPECT_EQ(MemberOf(event.detail, "body_truncated"), "true");
    const std::string body = MemberOf(event.detail, "body");
    EXPECT_LE(body.size(), kMaxKeptBody);
    EXPECT_EQ(body.find('\0'), std::string::npos);
}

TEST(AnswerOutcome, TextsAreMadeHarmless) {
    EXPECT_EQ(HarmlessText("plain ü€😀", 100), "plain ü€😀");
    EXPECT_EQ(HarmlessText(std::string_view("a\0b", 3), 100), "a\uFFFDb");
    EXPECT_EQ(HarmlessText("\xff\xc3", 100), "\uFFFD\uFFFD");
    EXPECT_EQ(HarmlessText("üü", 3), "ü") << "cut between characters";
    EXPECT_EQ(HarmlessText("", 3), "");
}

TEST(AnswerOutcome, TheTargetIsThatOfTheUrl) {
    EXPECT_EQ(TargetOf("http://host:81/path?x"), "host:81");
    EXPECT_EQ(TargetOf("https://[::1]?x"), "[::1]");
    EXPECT_EQ(TargetOf("http://host"), "host");
}

}  // namespace
}  // namespace ksana::exec

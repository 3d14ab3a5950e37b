#include "ksana/insight/spans/run_spans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ksana/codec/records/wait_cause_codec.hpp"
#include "ksana/insight/spans/spans_json.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::insight {
namespace {

using model::EventKind;
using model::Run;
using std::chrono::milliseconds;
using std::chrono::seconds;
using telemetry::Span;
using telemetry::SpanStatus;

constexpr TimePoint kFire{std::chrono::seconds(1'800'000'000)};

const Span* Find(const std::vector<Span>& spans, std::string_view name) {
    const auto found = std::ranges::find(spans, name, &Span::name);
    return found == spans.end() ? nullptr : &*found;
}

// Takes a run through its life as a store does, and keeps what an exporter would send.
class RunLife {
  public:
    RunLife() {
        run.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-0123456789ab");
        run.job_id = "nightly";
        run.kind = model::ActionKind::kHttp;
        run.trigger = model::RunTrigger::kFire;
        run.nominal_at = kFire;
        run.policy.retry.strategy = model::RetryStrategy::kFixed;
        run.policy.retry.max_retries = 3;
        run.policy.retry.interval = seconds(10);
        run.policy.retry.jitter = {};
        run.created_at = run.updated_at = now;
        run.status.state = model::RunState::kQueued;
        run.status.ready_at = kFire;
        job.action = model::HttpAction{.url = "https://user.example.com:8443/a?b=c"};
    }

    void Apply(model::Event event) {
        if (event.kind != EventKind::kStart && event.exec_id.empty()) {
            event.exec_id = run.status.exec_id;
        }
        if (event.kind == EventKind::kStart && run.status.attempt > 0) {
            attempts.push_back(*model::LastAttempt(run));
        }
        const TimePoint ready_at = run.status.ready_at;
        ASSERT_EQ(model::Decide(run, event, now).verdict, model::EventVerdict::kApplied);
        run.updated_at = now;
        auto ended = EndedSpansOf(run, {.job = &job, .links = {}, .ready_at = ready_at});
        std::ranges::move(ended, std::back_inserter(exported));
    }
    void Start(Duration after) {
        now += after;
        if (run.status.state == model::RunState::kScheduled) Apply({.kind = EventKind::kDue});
        Apply({.kind = EventKind::kStart,
               .exec_id = "exec-" + std::to_string(++starts),
               .owner = "node-1",
               .lease = seconds(30)});
    }
    void End(EventKind kind, std::string detail = {}, std::string error = {}) {
        now += seconds(1);
        Apply({.kind = kind, .error = std::move(error), .detail = std::move(detail)});
    }
    std::vector<Span> Served() const {
        std::vector<model::Attempt> all = attempts;
        if (auto last = model::LastAttempt(run)) all.push_back(*std::move(last));
        return SpansOf(run, all, {.job = &job, .links = {}, .ready_at = {}});
    }

    TimePoint now = kFire + milliseconds(3);
    Run run;
    model::Job job;
    std::vector<model::Attempt> attempts;
    std::vector<Span> exported;
    int starts = 0;
};

constexpr std::string_view kAnswer =
    R"({"status":503,"remote":"10.0.0.1:8443","timings":{"dns_ms":1.5,"connect_ms":3.0,)"
    R"("tls_ms":9.000,"first_byte_ms":40.125,"total_ms":50.000},"body":"x"})";

// D-13: two retries and a success; the right parents, times, links and steps.
TEST(RunSpans, AttemptsOfOneRunAreOneTrace) {
    RunLife life;
    life.Start(milliseconds(7));
    life.End(EventKind::kRetryableFailure, std::string(kAnswer), "HTTP 503");
    life.Start(seconds(11));
    life.End(EventKind::kRetryableFailure, std::string(kAnswer), "HTTP 503");
    life.Start(seconds(12));
    life.End(EventKind::kSuccess);
    const std::vector<Span> spans = life.Served();
    const std::uint64_t root = model::RootSpanOf(life.run.id);
    ASSERT_EQ(spans.size(), 11U);
    for (const Span& span : spans) {
        EXPECT_EQ(span.trace_id, model::TraceIdOf(life.run));
        ASSERT_TRUE(span.end) << span.name;
        EXPECT_LE(span.start, *span.end) << span.name;
        EXPECT_GE(span.start, kFire) << span.name;
        EXPECT_LE(*span.end, life.now) << span.name;
    }
    EXPECT_EQ(spans[0].name, "run nightly");
    EXPECT_EQ(spans[0].id, root);
    EXPECT_EQ(spans[0].parent, 0U);
    EXPECT_EQ(spans[0].start, kFire);
    EXPECT_EQ(spans[0].end, life.now);
    EXPECT_EQ(spans[0].status, SpanStatus::kOk);
    EXPECT_EQ(Find(spans, "plan")->end, kFire + milliseconds(3));
    const Span* second = Find(spans, "attempt 2");
    EXPECT_EQ(second->parent, root);
    EXPECT_EQ(second->id, model::AttemptSpanOf(life.run.id, 2));
    EXPECT_EQ(second->status, SpanStatus::kError);
    EXPECT_EQ(second->error, "HTTP 503");
    ASSERT_EQ(second->links.size(), 1U);
    EXPECT_EQ(second->links[0].span_id, Find(spans, "attempt 1")->id);
    EXPECT_TRUE(Find(spans, "attempt 1")->links.empty());
    // It was ready ten seconds after the failure, and began a second later.
    const Span* wait = Find(spans, "wait 2");
    EXPECT_EQ(wait->start, *Find(spans, "attempt 1")->end + seconds(10));
    EXPECT_EQ(wait->end, second->start);
    const Span* call = Find(spans, "HTTP GET user.example.com:8443");
    ASSERT_NE(call, nullptr);
    EXPECT_EQ(call->parent, Find(spans, "attempt 1")->id);
    EXPECT_EQ(*call->end - call->start, milliseconds(50));
    ASSERT_EQ(call->events.size(), 4U);
    EXPECT_EQ(call->events[3].name, "first byte");
    EXPECT_EQ(call->events[3].at - call->start, Duration(40'125));
}

// D-13: whatever is exported, change by change, is what the API shows in the end.
TEST(RunSpans, ExportedAndServedSpansAreTheSame) {
    RunLife life;
    life.run.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    life.Start(milliseconds(7));
    life.End(EventKind::kRetryableFailure, std::string(kAnswer), "HTTP 503");
    life.Start(seconds(11));
    life.End(EventKind::kLostOwner, {}, "lost");
    life.Start(seconds(1));
    life.End(EventKind::kTimeout, {}, "too slow");
    life.Start(seconds(30));
    life.End(EventKind::kPermanentFailure, std::string(kAnswer), "HTTP 404");
    std::vector<Span> served = life.Served();
    const auto by_id = [](std::vector<Span>& spans) { std::ranges::sort(spans, {}, &Span::id); };
    by_id(served);
    by_id(life.exported);
    ASSERT_EQ(served.size(), life.exported.size());
    for (std::size_t i = 0; i < served.size(); ++i) {
        EXPECT_EQ(served[i], life.exported[i]) << served[i].name << ", " << life.exported[i].name;
    }
    const Span* root = Find(served, "run nightly");
    EXPECT_EQ(root->parent, 0x00f067aa0ba902b7U);
    EXPECT_EQ(root->trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(root->status, SpanStatus::kError);
}

TEST(RunSpans, ARunThatWaitsSaysForWhat) {
    RunLife life;
    life.run.status.detail = codec::WaitCauseToDetail(
        {.reason = model::WaitReason::kLimited, .key = "group:etl", .before = 3});
    const std::vector<Span> spans = life.Served();
    ASSERT_EQ(spans.size(), 3U);
    EXPECT_FALSE(spans[0].end);
    EXPECT_EQ(spans[2].name, "wait 1");
    EXPECT_FALSE(spans[2].end);
    const telemetry::SpanAttribute wanted{"ksana.wait_for", std::string("group:etl")};
    EXPECT_EQ(std::ranges::count(spans[2].attributes, wanted), 1);
    EXPECT_TRUE(life.exported.empty());
}

TEST(RunSpans, ARunThatIsCancelledBeforeItStartsHasARootOnly) {
    RunLife life;
    life.now += seconds(3);
    life.Apply({.kind = EventKind::kCancel});
    ASSERT_EQ(life.exported.size(), 2U);
    EXPECT_EQ(life.exported[0].name, "plan");
    EXPECT_EQ(life.exported[1].name, "run nightly");
    EXPECT_EQ(life.exported[1].end, life.now);
    EXPECT_EQ(life.exported[1].status, SpanStatus::kUnset);
}

TEST(RunSpans, ACallbackIsAPartOfItsRun) {
    RunLife life;
    model::Run callback;
    callback.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-ffffffffffff");
    callback.trigger = model::RunTrigger::kCallback;
    callback.trace_parent = model::TraceParentForChild(life.run);
    const std::vector<Span> spans = SpansOf(callback, {}, {});
    EXPECT_EQ(spans[0].name, "callback");
    EXPECT_EQ(spans[0].parent, model::RootSpanOf(life.run.id));
    EXPECT_EQ(spans[0].trace_id, model::TraceIdOf(life.run));
}

TEST(RunSpans, AFollowerLinksToWhatItFollows) {
    RunLife life;
    model::Run cause;
    cause.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-ffffffffffff");
    life.run.trace_parent = model::TraceLinkTo(cause);
    const std::vector<Span> spans = life.Served();
    ASSERT_EQ(spans[0].links.size(), 1U);
    EXPECT_EQ(spans[0].links[0].span_id, model::RootSpanOf(cause.id));
    EXPECT_EQ(spans[0].parent, 0U);
}

TEST(RunSpans, ThereIsABound) {
    RunLife life;
    std::vector<model::Attempt> attempts(1'000);
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        attempts[i].number = static_cast<std::int32_t>(i + 1);
        attempts[i].started_at = kFire;
    }
    const std::vector<Span> spans = SpansOf(life.run, attempts, {});
    EXPECT_LE(spans.size(), 3 * kMaxSpanAttempts + 3);
    EXPECT_NE(Find(spans, "attempt 1000"), nullptr);
    EXPECT_EQ(Find(spans, "attempt 1"), nullptr);
}

TEST(RunSpans, JsonNamesKindsAndStatuses) {
    RunLife life;
    life.Start(seconds(1));
    life.End(EventKind::kPermanentFailure, "no json", "x");
    const std::string json = SpansToJson(life.Served());
    EXPECT_TRUE(json.starts_with(R"({"trace_id":"0192f0c123457abc8def0123456789ab","spans":[{)"));
    EXPECT_NE(json.find(R"("kind":"client")"), std::string::npos);
    EXPECT_NE(json.find(R"("status":"error","error":"x")"), std::string::npos);
}

}  // namespace
}  // namespace ksana::insight

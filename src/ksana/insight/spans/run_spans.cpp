#include "ksana/insight/spans/run_spans.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/records/wait_cause_codec.hpp"
#include "ksana/insight/spans/attempt_parts.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/retry.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::insight {
namespace {

using model::Attempt;
using model::AttemptOutcome;
using model::Run;
using model::RunState;
using telemetry::Span;
using telemetry::SpanStatus;

// Callbacks of one run that are shown: repetitions of one are runs of their own.
constexpr std::size_t kMaxCallbacks = 20;

bool IsFailure(RunState state) {
    return state == RunState::kFailed || state == RunState::kTimedOut || state == RunState::kHeld;
}

bool IsFailure(AttemptOutcome outcome) {
    return outcome == AttemptOutcome::kFailed || outcome == AttemptOutcome::kTimedOut ||
           outcome == AttemptOutcome::kLost;
}

void AddText(Span& span, std::string_view key, std::string_view text) {
    if (!text.empty()) span.attributes.push_back({std::string(key), std::string(text)});
}

void AddNumber(Span& span, std::string_view key, std::int64_t number) {
    span.attributes.push_back({std::string(key), number});
}

// A backfill makes runs of fires long past: its runs begin when they are made.
TimePoint BeginOf(const Run& run) {
    const bool from_fire = run.trigger == model::RunTrigger::kFire && run.nominal_at;
    return from_fire ? std::min(*run.nominal_at, run.created_at) : run.created_at;
}

// Computes the spans of one run. Lives during one call.
class Spans {
  public:
    Spans(const Run& run, const SpanSources& sources)
        : run_(run), sources_(sources), trace_id_(model::TraceIdOf(run)) {}

    void Root() {
        const model::RunStatus& status = run_.status;
        const bool callback = run_.trigger == model::RunTrigger::kCallback;
        const std::string& what = run_.job_id.empty() ? run_.type : run_.job_id;
        Span span = Make(callback       ? "callback"
                         : what.empty() ? "run"
                                        : "run " + what,
                         model::RootSpanOf(run_.id), BeginOf(run_), status.finished_at);
        const model::StoredTrace stored = model::StoredTraceOf(run_);
        span.parent = stored.parent ? stored.parent->span : 0;
        if (stored.link) span.links.push_back({stored.link->trace_id, stored.link->span});
        span.links.insert(span.links.end(), sources_.links.begin(), sources_.links.end());
        AddText(span, "ksana.run_id", run_.id.ToString());
        AddText(span, "ksana.job_id", run_.job_id);
        AddText(span, "ksana.type", run_.type);
        AddText(span, "ksana.category", run_.category);
        AddText(span, "ksana.tenant", run_.tenant);
        AddText(span, "ksana.trigger", model::NameOf(run_.trigger));
        AddText(span, "ksana.kind", model::NameOf(run_.kind));
        AddText(span, "ksana.state", model::NameOf(status.state));
        if (run_.nominal_at) AddText(span, "ksana.nominal_at", FormatTime(*run_.nominal_at));
        AddNumber(span, "ksana.attempts", status.attempt);
        if (status.skip_reason != model::SkipReason::kNone) {
            AddText(span, "ksana.skip_reason", model::NameOf(status.skip_reason));
        }
        if (IsFailure(status.state)) {
            span.status = SpanStatus::kError;
            span.error = status.last_error;
        } else if (status.state == RunState::kSucceeded) {
            span.status = SpanStatus::kOk;
        }
        Keep(std::move(span));
    }

    void Plan() {
        if (run_.trigger != model::RunTrigger::kFire) return;
        Keep(Part("plan", "plan", 0, BeginOf(run_), run_.created_at));
    }

    // `ready`: when it could begin; none: nobody knows any more, so its wait is left out.
    void AttemptOf(const Attempt& attempt, std::optional<TimePoint> ready) {
        const std::int32_t number = attempt.number;
        if (ready) {
            Keep(Part(fmt::format("wait {}", number), "wait", number,
                      std::min(*ready, attempt.started_at), attempt.started_at));
        }
        Span span = Make(fmt::format("attempt {}", number), model::AttemptSpanOf(run_.id, number),
                         attempt.started_at, attempt.ended_at);
        span.parent = model::RootSpanOf(run_.id);
        if (number > 1)
            span.links.push_back({trace_id_, model::AttemptSpanOf(run_.id, number - 1)});
        AddNumber(span, "ksana.attempt", number);
        AddNumber(span, "ksana.fence", attempt.fence);
        AddText(span, "ksana.owner", attempt.owner);
        if (attempt.outcome) {
            AddText(span, "ksana.outcome", model::NameOf(*attempt.outcome));
            if (IsFailure(*attempt.outcome)) {
                span.status = SpanStatus::kError;
                span.error = attempt.error;
            } else if (*attempt.outcome == AttemptOutcome::kSucceeded) {
                span.status = SpanStatus::kOk;
            }
        }
        std::optional<Span> inner = PartOfAttempt(run_, attempt, sources_.job);
        if (inner) {
            inner->trace_id = trace_id_;
            inner->id = model::PartSpanOf(run_.id, "work", number);
            inner->parent = span.id;
            inner->status = span.status;
            inner->error = span.error;
        }
        Keep(std::move(span));
        if (inner) Keep(*std::move(inner));
    }

    // What the run waits for now.
    void OpenWait() {
        const model::RunStatus& status = run_.status;
        if (status.state != RunState::kScheduled && status.state != RunState::kQueued) return;
        const std::int32_t number = status.attempt + 1;
        const TimePoint from = status.attempt == 0 ? run_.created_at : status.ready_at;
        Span span = Part(fmt::format("wait {}", number), "wait", number, from, std::nullopt);
        if (const auto cause = codec::WaitCauseFromDetail(status.detail)) {
            AddText(span, "ksana.wait_reason", model::NameOf(cause->reason));
            AddText(span, "ksana.wait_for", cause->key);
        }
        Keep(std::move(span));
    }

    std::vector<Span> Take() { return std::move(spans_); }

  private:
    Span Make(std::string name, std::uint64_t id, TimePoint start,
              std::optional<TimePoint> end) const {
        Span span;
        span.trace_id = trace_id_;
        span.id = id;
        span.name = std::move(name);
        span.start = start;
        span.end = end;
        if (span.end) span.end = std::max(*span.end, start);
        return span;
    }

    Span Part(std::string name, std::string_view part, std::int64_t number, TimePoint start,
              std::optional<TimePoint> end) const {
        Span span = Make(std::move(name), model::PartSpanOf(run_.id, part, number), start, end);
        span.parent = model::RootSpanOf(run_.id);
        return span;
    }

    void Keep(Span span) { spans_.push_back(std::move(span)); }

    const Run& run_;
    const SpanSources& sources_;
    const std::string trace_id_;
    std::vector<Span> spans_;
};

bool Began(const Attempt& attempt) { return attempt.outcome != AttemptOutcome::kDeferred; }

// When the attempt after `before` could begin. The store keeps this time of the current attempt
// only; that of an earlier one follows from the policy, except for what a target asked for with
// Retry-After.
TimePoint ReadyAfter(const Run& run, const Attempt& before, int failures) {
    const TimePoint ended = before.ended_at.value_or(before.started_at);
    const bool failed =
        before.outcome == AttemptOutcome::kFailed || before.outcome == AttemptOutcome::kTimedOut;
    if (!failed) return ended;
    const auto delay = model::RetryDelay(run.policy.retry, failures, {}, run.id.ToString());
    return ended + delay.value_or(Duration::zero());
}

bool AttemptJustEnded(const Run& run) {
    const model::RunStatus& status = run.status;
    return status.attempt > 0 && status.outcome && status.outcome != AttemptOutcome::kDeferred &&
           status.ended_at == run.updated_at;
}

// A retry has replaced the ready_at of the attempt that ended.
std::optional<TimePoint> ReadyOf(const Run& run, const SpanSources& sources) {
    if (run.status.attempt <= 1) return run.created_at;
    if (sources.ready_at) return sources.ready_at;
    if (!model::IsFinal(run.status.state)) return std::nullopt;
    return run.status.ready_at;
}

}  // namespace

std::vector<Span> SpansOf(const Run& run, std::span<const Attempt> attempts,
                          const SpanSources& sources) {
    Spans spans(run, sources);
    spans.Root();
    spans.Plan();
    int failures = 0;
    const std::size_t skipped = attempts.size() - std::min(attempts.size(), kMaxSpanAttempts);
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        const Attempt& attempt = attempts[i];
        TimePoint ready = run.created_at;
        if (i > 0) ready = ReadyAfter(run, attempts[i - 1], failures);
        if (attempt.outcome && IsFailure(*attempt.outcome)) ++failures;
        if (i >= skipped && Began(attempt)) spans.AttemptOf(attempt, ready);
    }
    spans.OpenWait();
    return spans.Take();
}

std::vector<Span> EndedSpansOf(const Run& run, const SpanSources& sources) {
    Spans spans(run, sources);
    if (AttemptJustEnded(run)) {
        if (const auto attempt = model::LastAttempt(run)) {
            spans.AttemptOf(*attempt, ReadyOf(run, sources));
        }
    }
    const bool over = model::IsFinal(run.status.state) && run.status.finished_at == run.updated_at;
    if (over) {
        spans.Plan();
        spans.Root();
    }
    return spans.Take();
}

bool NeedsLinks(const Run& run) { return run.policy.depends && !run.job_id.empty(); }

Result<std::vector<telemetry::SpanLink>> LinksOf(store::Store& store, const Run& run) {
    std::vector<telemetry::SpanLink> links;
    if (!NeedsLinks(run)) return links;
    const auto job = store.jobs().Get(run.job_id);
    if (!job) return links;  // it was deleted
    for (const model::Dependency& dependency : job->depends_on) {
        store::RunQuery query;
        query.filter.job_id = dependency.job_id;
        query.filter.states =
            static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
        query.filter.finished_until = run.status.started_at.value_or(run.updated_at) + Duration(1);
        query.sort = store::RunSort::kFinished;
        query.limit = 1;
        KSANA_TRY(const store::Page<Run> last, store.runs().List(query));
        for (const Run& cause : last.items) {
            links.push_back({model::TraceIdOf(cause), model::RootSpanOf(cause.id)});
        }
    }
    return links;
}

Result<std::vector<Span>> ReadSpans(store::Store& store, const Uuid& run_id) {
    KSANA_TRY(const store::RunHistory history, store.runs().Get(run_id));
    const Run& run = history.run;
    SpanSources sources;
    std::optional<model::Job> job;
    if (!run.job_id.empty()) {
        if (auto found = store.jobs().Get(run.job_id)) job = *std::move(found);
    }
    if (job) sources.job = &*job;
    KSANA_TRY(sources.links, LinksOf(store, run));
    std::vector<Span> spans = SpansOf(run, history.attempts, sources);
    if (run.trigger == model::RunTrigger::kCallback) return spans;
    store::RunQuery query;
    query.filter.parent = run.id;
    query.filter.trigger = model::RunTrigger::kCallback;
    query.limit = kMaxCallbacks;
    query.descending = false;
    KSANA_TRY(const store::Page<Run> callbacks, store.runs().List(query));
    for (const Run& callback : callbacks.items) {
        auto read = store.runs().Get(callback.id);
        if (!read) continue;  // it was deleted meanwhile
        std::ranges::move(SpansOf(read->run, read->attempts, {}), std::back_inserter(spans));
    }
    return spans;
}

}  // namespace ksana::insight

#include "ksana/server/traces/run_traces.hpp"

#include "ksana/insight/spans/run_spans.hpp"

namespace ksana::server {
namespace {

using model::Run;
using telemetry::Span;

// Returns whether a run that has just changed is over, and links to what released it are missing.
bool EndsWithLinks(const Run& run) {
    return model::IsFinal(run.status.state) && insight::NeedsLinks(run);
}

// Returns whether the change of this callback may have ended the run that it is about.
bool MayEndParent(const Run& run) {
    return run.trigger == model::RunTrigger::kCallback && run.parent &&
           run.status.state == model::RunState::kSucceeded;
}

}  // namespace

void RunTraces::Ended(const engine::AttemptEnd& end) {
    next_.Ended(end);
    if (end.applied.run) Export(*end.applied.run, end.job, end.applied.ready_at);
}

void RunTraces::Reported(model::EventKind kind, const store::Applied& applied) {
    next_.Reported(kind, applied);
    if (applied.run) Export(*applied.run, nullptr, applied.ready_at);
}

void RunTraces::Closed(const Run& run) {
    next_.Closed(run);
    Export(run, nullptr, std::nullopt);
}

void RunTraces::Reaped(const Run& run) {
    next_.Reaped(run);
    Export(run, nullptr, std::nullopt);
}

void RunTraces::Export(const Run& run, const model::Job* job, std::optional<TimePoint> ready_at) {
    if (!sampler_.Samples(run)) return;
    insight::SpanSources sources{.job = job, .links = {}, .ready_at = ready_at};
    if (EndsWithLinks(run)) {
        // The job is not kept: the name of a call is then that of any call.
        exporter_.OfferLater([this, run, ready_at] {
            insight::SpanSources later{.job = nullptr, .links = {}, .ready_at = ready_at};
            if (auto links = insight::LinksOf(store_, run)) later.links = *std::move(links);
            return insight::EndedSpansOf(run, later);
        });
    } else {
        std::vector<Span> spans = insight::EndedSpansOf(run, sources);
        if (!spans.empty()) exporter_.Offer(std::move(spans));
    }
    if (MayEndParent(run)) ExportParent(run);
}

// A run whose success is called back is over when the callback is delivered.
void RunTraces::ExportParent(const Run& callback) {
    exporter_.OfferLater([this, id = *callback.parent, at = callback.updated_at] {
        const auto parent = store_.runs().Get(id);
        // It may have changed since, or been over before.
        if (!parent || parent->run.updated_at != at) return std::vector<Span>();
        insight::SpanSources sources;
        if (auto links = insight::LinksOf(store_, parent->run)) sources.links = *std::move(links);
        return insight::EndedSpansOf(parent->run, sources);
    });
}

}  // namespace ksana::server

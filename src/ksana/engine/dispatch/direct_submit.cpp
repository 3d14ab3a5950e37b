#include "ksana/engine/dispatch/direct_submit.hpp"

#include <algorithm>

namespace ksana::engine {
namespace {

// The executor needs no other data than the run itself.
bool NeedsNothingElse(const model::Run& run) {
    return run.job_id.empty() && run.trigger != model::RunTrigger::kCallback;
}

}  // namespace

Result<std::vector<store::Submitted>> SubmitAndStart(store::Store& store, Dispatcher& dispatcher,
                                                     store::SubmitParams params) {
    const bool can_start =
        !dispatcher.Behind() && std::ranges::all_of(params.runs, NeedsNothingElse);
    if (!can_start) return store.runs().Submit(std::move(params));
    const store::StartAs reserved = dispatcher.Reserve(params.runs.size());
    if (reserved.limit > 0) params.start = reserved;
    const TimePoint asked_at = dispatcher.Now();
    auto submitted = store.runs().Submit(std::move(params));
    const TimePoint answered_at = dispatcher.Now();
    StoreOffset offset;
    std::vector<AttemptPointer> attempts;
    if (submitted) {
        for (const store::Submitted& one : *submitted) {
            if (one.verdict != store::SubmitVerdict::kStarted) continue;
            // A copy: the submitter gets the run too.
            attempts.push_back(MakeAttempt(*one.started));
            offset.Note(asked_at, answered_at, *one.started->status.started_at);
        }
    }
    const Duration ahead = attempts.empty() ? Duration() : offset.Least();
    dispatcher.Begin(std::move(attempts), reserved, ahead);
    return submitted;
}

}  // namespace ksana::engine

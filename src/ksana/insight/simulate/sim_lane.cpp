#include "ksana/insight/simulate/sim_lane.hpp"

#include <algorithm>
#include <tuple>

#include "ksana/model/job/overlap.hpp"

namespace ksana::insight {

using model::OverlapPolicy;
using model::OverlapVerdict;

std::vector<SimExample> SimExamples::Take() {
    std::ranges::sort(examples_, {}, [](const SimExample& example) {
        return std::tuple(example.kind, example.at, std::string_view(example.job_id));
    });
    return std::move(examples_);
}

void SimLane::Start(TimePoint at) {
    running_ = true;
    began_ = at;
    ++outcome_->counts.runs;
    books_->load.Start(at);
}

void SimLane::End(TimePoint at) {
    running_ = false;
    books_->load.Ran(began_, at);
}

void SimLane::Catch(TimePoint at) {
    while (running_ && began_ + duration_ <= at) {
        const TimePoint end = began_ + duration_;
        End(end);
        if (waiting_ == 0 || end >= books_->to) return;
        --waiting_;
        Start(end);
    }
}

void SimLane::Fire(TimePoint at) {
    SimCounts& counts = outcome_->counts;
    ++counts.fires;
    if (outcome_->overlap == OverlapPolicy::kAllow) {
        ++counts.runs;
        books_->load.Start(at);
        books_->load.Ran(at, at + duration_);
        if (at + duration_ > books_->to) ++counts.unfinished;
        return;
    }
    Catch(at);
    const int running = running_ ? 1 : 0;
    OverlapVerdict verdict = OverlapVerdict::kStart;
    if (model::ExceedsQueueLimit(outcome_->overlap, running + waiting_)) {
        verdict = OverlapVerdict::kSkip;
    } else if (running_) {
        verdict = model::DecideOverlap(outcome_->overlap, running, waiting_);
    }
    switch (verdict) {
        case OverlapVerdict::kSkip:
            ++counts.skipped;
            books_->examples.Add(SimExampleKind::kSkipped, outcome_->id, at);
            return;
        case OverlapVerdict::kQueue:
            ++counts.queued;
            ++waiting_;
            books_->examples.Add(SimExampleKind::kQueued, outcome_->id, at);
            return;
        case OverlapVerdict::kCancelOthers:
            ++counts.cancelled;
            books_->examples.Add(SimExampleKind::kCancelled, outcome_->id, began_);
            End(at);
            break;
        case OverlapVerdict::kStart:
            break;
    }
    Start(at);
}

void SimLane::Finish() {
    Catch(books_->to);
    outcome_->counts.unfinished += waiting_ + (running_ ? 1 : 0);
    if (running_) books_->load.Ran(began_, books_->to);
}

}  // namespace ksana::insight

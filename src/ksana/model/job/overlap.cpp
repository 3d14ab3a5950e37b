#include "ksana/model/job/overlap.hpp"

namespace ksana::model {

bool ExceedsQueueLimit(OverlapPolicy policy, int unfinished) {
    switch (policy) {
        case OverlapPolicy::kSkip:
            return unfinished >= 1;
        case OverlapPolicy::kQueueOne:
            return unfinished >= 2;
        case OverlapPolicy::kQueueAll:
        case OverlapPolicy::kCancelOther:
            return unfinished > kMaxQueuedRuns;
        case OverlapPolicy::kAllow:
            return false;
    }
    return false;
}

OverlapVerdict DecideOverlap(OverlapPolicy policy, int running, int waiting) {
    const bool idle = running == 0 && waiting == 0;
    if (idle || policy == OverlapPolicy::kAllow) return OverlapVerdict::kStart;
    switch (policy) {
        case OverlapPolicy::kSkip:
            return OverlapVerdict::kSkip;
        case OverlapPolicy::kAllow:
            return OverlapVerdict::kStart;
        case OverlapPolicy::kQueueOne:
            // Keeps the first queued run and skips later ones.
            return waiting == 0 ? OverlapVerdict::kQueue : OverlapVerdict::kSkip;
        case OverlapPolicy::kQueueAll:
            return waiting < kMaxQueuedRuns ? OverlapVerdict::kQueue : OverlapVerdict::kSkip;
        case OverlapPolicy::kCancelOther:
            return OverlapVerdict::kCancelOthers;
    }
    return OverlapVerdict::kSkip;
}

}  // namespace ksana::model

#include "ksana/model/overlap.hpp"

namespace ksana::model {

OverlapVerdict DecideOverlap(OverlapPolicy policy, int running, int waiting) {
    const bool idle = running == 0 && waiting == 0;
    if (idle || policy == OverlapPolicy::kAllow) return OverlapVerdict::kStart;
    switch (policy) {
        case OverlapPolicy::kSkip:
            return OverlapVerdict::kSkip;
        case OverlapPolicy::kAllow:
            return OverlapVerdict::kStart;
        case OverlapPolicy::kQueueOne:
            // The first that waits is kept, later ones are dropped.
            return waiting == 0 ? OverlapVerdict::kQueue : OverlapVerdict::kSkip;
        case OverlapPolicy::kQueueAll:
            return waiting < kMaxQueuedRuns ? OverlapVerdict::kQueue : OverlapVerdict::kSkip;
        case OverlapPolicy::kCancelOther:
            return OverlapVerdict::kCancelOthers;
    }
    return OverlapVerdict::kSkip;
}

}  // namespace ksana::model

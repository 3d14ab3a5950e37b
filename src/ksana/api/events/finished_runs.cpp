#include "ksana/api/events/finished_runs.hpp"

#include <algorithm>

namespace ksana::api {

void FinishedRuns::Forget() {
    since_.reset();
    seen_.clear();
}

Result<FinishedRuns::Found> FinishedRuns::Look() {
    Found found;
    if (!since_) {
        KSANA_TRY(since_, store_.Now());
        return found;
    }
    store::RunQuery query;
    query.filter.states =
        static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
    query.filter.finished_from = *since_ - overlap_;
    query.sort = store::RunSort::kFinished;
    query.descending = false;
    // Runs that were seen before may come before the new ones.
    query.limit = std::min(kMost + seen_.size(), store::kMaxPageSize);
    KSANA_TRY(store::Page<model::Run> page, store_.runs().List(query));
    for (model::Run& run : page.items) {
        const TimePoint end = run.status.finished_at.value_or(run.updated_at);
        since_ = std::max(*since_, end);
        if (!seen_.emplace(end, run.id).second || end < *query.filter.finished_from) continue;
        found.runs.push_back(std::move(run));
    }
    if (!page.next.empty()) {  // too many to follow: continue from now
        found.more = true;
        KSANA_TRY(since_, store_.Now());
    }
    seen_.erase(seen_.begin(), seen_.lower_bound({*since_ - overlap_, Uuid()}));
    return found;
}

}  // namespace ksana::api

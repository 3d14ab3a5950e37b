#include "ksana/store/run_store.hpp"

#include <algorithm>

#include "ksana/model/worker.hpp"

namespace ksana::store {

Result<std::vector<Applied>> RunStore::Apply(std::vector<model::RunEvent> events,
                                             std::optional<TimePoint> now,
                                             std::optional<model::AuditEvent> audit) {
    KSANA_TRY(Exchanged exchanged,
              Exchange({.now = now, .events = std::move(events), .audit = std::move(audit)}));
    return std::move(exchanged.applied);
}

Result<Claimed> RunStore::Claim(ClaimParams params, std::optional<TimePoint> now) {
    KSANA_TRY(Exchanged exchanged, Exchange({.now = now, .claim = std::move(params)}));
    return std::move(exchanged.claimed);
}

namespace {

bool Is(const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
}

bool OneOf(const std::vector<std::string>& wanted, const std::string& value) {
    return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

}  // namespace

bool Matches(const ClaimFilter& filter, const model::Run& run, TimePoint now) {
    return run.kind == filter.kind && OneOf(filter.types, run.type) &&
           (filter.without.empty() || !OneOf(filter.without, run.type)) &&
           OneOf(filter.categories, run.category) && Is(filter.tenant, run.tenant) &&
           Is(filter.creator, run.creator) && (!filter.only_selective || !run.selector.empty()) &&
           model::HasLabels(filter.labels, run.selector) &&
           (model::PreferredUntil(run) <= now || model::HasLabels(filter.labels, run.prefer));
}

}  // namespace ksana::store

#include "ksana/store/run_store.hpp"

namespace ksana::store {

Result<std::vector<Applied>> RunStore::Apply(std::vector<RunEvent> events,
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

}  // namespace ksana::store

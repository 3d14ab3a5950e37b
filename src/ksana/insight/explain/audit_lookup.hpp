#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/insight/explain/explanation.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

// The words of audit events that explanations look for. A reason, where somebody gave one, is the
// member "reason" of the event's data.
inline constexpr std::string_view kAuditPaused = model::audit::kPaused;
inline constexpr std::string_view kAuditCancelled = model::audit::kCancelled;
inline constexpr std::string_view kAuditDeleted = model::audit::kDeleted;
inline constexpr std::string_view kAuditJob = model::audit::kJob;
inline constexpr std::string_view kAuditRun = model::audit::kRun;

struct AuditQuestion {
    std::string_view action;
    std::string_view resource_type;
    std::string resource_id;
    std::optional<TimePoint> until;  // before
};

// The latest such event; nothing where none was kept.
Result<std::optional<Actor>> FindActor(store::Store& store, const AuditQuestion& question);

// Who deleted the run of a fire, by the entry of the ledger that was made with it.
Result<std::optional<Actor>> FindDeleter(store::Store& store, const std::string& job_id,
                                         TimePoint nominal, TimePoint recorded_at);

}  // namespace ksana::insight

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

// The words of audit events that explanations search for. The reason that a user gave, if any, is
// the member "reason" of the event's data.
inline constexpr std::string_view kAuditPaused = model::audit::kPaused;
inline constexpr std::string_view kAuditCancelled = model::audit::kCancelled;
inline constexpr std::string_view kAuditDeleted = model::audit::kDeleted;
inline constexpr std::string_view kAuditJob = model::audit::kJob;
inline constexpr std::string_view kAuditRun = model::audit::kRun;

struct AuditQuestion {
    std::string_view action;
    std::string_view resource_type;
    std::string resource_id;
    std::optional<TimePoint> until;  // exclusive; none: no bound
};

// Returns the user, time and reason of the latest matching event; nullopt if there is none.
Result<std::optional<Actor>> FindActor(store::Store& store, const AuditQuestion& question);

// Returns who deleted the run of a fire. `recorded_at` is that of the ledger entry, which was
// written in the same transaction as the audit event.
Result<std::optional<Actor>> FindDeleter(store::Store& store, const std::string& job_id,
                                         TimePoint nominal, TimePoint recorded_at);

}  // namespace ksana::insight

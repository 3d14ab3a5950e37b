#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/result.hpp"
#include "ksana/base/time.hpp"
#include "ksana/insight/explanation.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

// The words of audit events that explanations look for. A reason, where somebody gave one, is the
// member "reason" of the event's data.
inline constexpr std::string_view kAuditPaused = "paused";
inline constexpr std::string_view kAuditCancelled = "cancelled";
inline constexpr std::string_view kAuditDeleted = "deleted";
inline constexpr std::string_view kAuditJob = "job";
inline constexpr std::string_view kAuditRun = "run";

struct AuditQuestion {
    std::string_view action;
    std::string_view resource_type;
    std::string resource_id;
    std::optional<TimePoint> until;  // before
};

// The latest such event; nothing where none was kept.
Result<std::optional<Actor>> FindActor(store::Store& store, const AuditQuestion& question);

}  // namespace ksana::insight

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"

namespace ksana::model {

// Something that somebody or the server itself did, kept to be looked up (G-11). Objects and data
// are JSON, or empty.
struct AuditEvent {
    std::int64_t seq = 0;  // given by the store; grows
    TimePoint at{};
    std::string tenant = "default";
    std::string action;  // "created"
    std::string user;
    std::string resource_type;  // "job"
    std::string resource_id;
    std::string old_object;
    std::string new_object;
    std::string data;
    std::string client_ip;
    std::string method;

    friend bool operator==(const AuditEvent&, const AuditEvent&) = default;
};

}  // namespace ksana::model

// The words of audit events: what was done, and to what. They are stored, shown and looked for
// (insight/ asks for the last who "paused" a "job"), so none ever changes.

namespace ksana::model::audit {

inline constexpr std::string_view kCreated = "created";
inline constexpr std::string_view kChanged = "changed";
inline constexpr std::string_view kPaused = "paused";
inline constexpr std::string_view kResumed = "resumed";
inline constexpr std::string_view kDeleted = "deleted";
inline constexpr std::string_view kPurged = "purged";
inline constexpr std::string_view kRunNow = "run_now";
inline constexpr std::string_view kCancelled = "cancelled";
inline constexpr std::string_view kRetried = "retried";
inline constexpr std::string_view kHeld = "held";
inline constexpr std::string_view kResolved = "resolved";
inline constexpr std::string_view kSentBack = "sent_back";

inline constexpr std::string_view kJob = "job";
inline constexpr std::string_view kRun = "run";
inline constexpr std::string_view kBackfill = "backfill";
inline constexpr std::string_view kAlert = "alert";
inline constexpr std::string_view kType = "type";
inline constexpr std::string_view kCalendar = "calendar";
inline constexpr std::string_view kGroup = "group";
inline constexpr std::string_view kLimit = "limit";

// Members of an event's data.
inline constexpr std::string_view kReason = "reason";
inline constexpr std::string_view kRemark = "remark";
inline constexpr std::string_view kJobId = "job_id";
inline constexpr std::string_view kNominalAt = "nominal_at";

}  // namespace ksana::model::audit

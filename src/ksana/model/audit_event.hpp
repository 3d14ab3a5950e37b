#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"

namespace ksana::model {

// A record of an action by a user or by the server itself, kept for later queries (G-11).
// `old_object`, `new_object` and `data` are JSON, or empty.
struct AuditEvent {
    std::int64_t seq = 0;  // assigned by the store; increasing
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

// Constants for the `action` and `resource_type` of audit events. They are stored, shown and
// queried (insight/ looks up the last "paused" event of a "job"), so their values must never
// change.

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
inline constexpr std::string_view kDrainWorker = "drain";
inline constexpr std::string_view kBreakerReset = "breaker_reset";

inline constexpr std::string_view kJob = "job";
inline constexpr std::string_view kWorker = "worker";
inline constexpr std::string_view kRun = "run";
inline constexpr std::string_view kBackfill = "backfill";
inline constexpr std::string_view kAlert = "alert";
inline constexpr std::string_view kType = "type";
inline constexpr std::string_view kCalendar = "calendar";
inline constexpr std::string_view kGroup = "group";
inline constexpr std::string_view kLimit = "limit";

// Keys of an event's `data` object.
inline constexpr std::string_view kReason = "reason";
inline constexpr std::string_view kRemark = "remark";
inline constexpr std::string_view kJobId = "job_id";
inline constexpr std::string_view kNominalAt = "nominal_at";

}  // namespace ksana::model::audit

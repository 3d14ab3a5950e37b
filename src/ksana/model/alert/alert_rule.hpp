#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::model {

// The condition of an alert rule (K-25).
enum class AlertKind : std::uint8_t {
    kFailure,  // a run failed permanently or timed out
    kMissed,   // a fire has no run
    kLate,     // a run started late
    kLong,     // a run takes too long
};

// The jobs and types that a rule covers. All set fields must match; an empty scope covers
// everything.
struct AlertScope {
    std::string job;
    std::string group;
    std::string type;
    std::string tenant;
    TextMap labels;  // labels that the job must have
    friend bool operator==(const AlertScope&, const AlertScope&) = default;
};

struct AlertWebhook {
    std::string url;
    std::string access_key;
    std::string secret;  // empty: not signed
    friend bool operator==(const AlertWebhook&, const AlertWebhook&) = default;
};

enum class Weekday : std::uint8_t { kMon, kTue, kWed, kThu, kFri, kSat, kSun };

// Daily hours without notices, from one time of day to another. If `to` is earlier than `from` they
// span midnight and belong to the day they begin on.
struct QuietHours {
    std::string zone = "UTC";
    std::string from;           // "22:00"
    std::string to;             // "07:00"
    std::vector<Weekday> days;  // empty: every day
    friend bool operator==(const QuietHours&, const QuietHours&) = default;
};

struct AlertRule {
    std::string id;
    std::string name;
    bool enabled = true;
    AlertKind on = AlertKind::kFailure;
    std::int32_t consecutive = 1;         // kFailure: the number of failures in a row
    std::optional<Duration> longer_than;  // kLate, kLong: the threshold
    // kLong: threshold as a multiple of the median duration of the job's latest successful runs.
    std::optional<double> factor;
    AlertScope scope;
    std::optional<AlertWebhook> webhook;
    std::vector<std::string> email;  // addresses
    Duration remind_every{};         // while the incident is open; zero: no reminders
    bool recovery = true;            // send a notice when the incident closes
    std::optional<QuietHours> quiet;
    TimePoint created_at{};
    friend bool operator==(const AlertRule&, const AlertRule&) = default;
};

// Returns every problem of a rule, each with its JSON Pointer.
std::vector<Problem> ValidateAlertRule(const AlertRule& rule, schedule::ZoneDatabase& zones);

// Returns whether the scope covers a run, or the fires of a job. `job` is null if the run has no
// job or its job was deleted.
bool Concerns(const AlertScope& scope, const Run& run, const Job* job);
bool Concerns(const AlertScope& scope, const Job& job);
// Returns whether the scope can cover tasks of this type that have no job.
bool ConcernsTasks(const AlertScope& scope, std::string_view type);

// Returns whether notices are suppressed at this time. If the zone no longer exists, they are not.
bool IsQuiet(const QuietHours& quiet, TimePoint now, schedule::ZoneDatabase& zones);

template <>
struct EnumNames<AlertKind> {
    static constexpr std::array<std::string_view, 4> kNames = {"failure", "missed", "late", "long"};
};
template <>
struct EnumNames<Weekday> {
    static constexpr std::array<std::string_view, 7> kNames = {"mon", "tue", "wed", "thu",
                                                               "fri", "sat", "sun"};
};

}  // namespace ksana::model

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

// What people want to hear of (K-25).
enum class AlertKind : std::uint8_t {
    kFailure,  // a run failed for good, or took too long
    kMissed,   // a fire had no run
    kLate,     // a run started late
    kLong,     // a run takes long
};

// Which jobs and types a rule is for. All that is set must hold; nothing set: everything.
struct AlertScope {
    std::string job;
    std::string group;
    std::string type;
    std::string tenant;
    TextMap labels;  // of the job
    friend bool operator==(const AlertScope&, const AlertScope&) = default;
};

struct AlertWebhook {
    std::string url;
    std::string access_key;
    std::string secret;  // empty: not signed
    friend bool operator==(const AlertWebhook&, const AlertWebhook&) = default;
};

enum class Weekday : std::uint8_t { kMon, kTue, kWed, kThu, kFri, kSat, kSun };

// Hours in which nobody is told: from one time of the day to the other, over midnight where that is
// earlier. A day is that of the beginning.
struct QuietHours {
    std::string zone = "UTC";
    std::string from;           // "22:00"
    std::string to;             // "07:00"
    std::vector<Weekday> days;  // none: every day
    friend bool operator==(const QuietHours&, const QuietHours&) = default;
};

struct AlertRule {
    std::string id;
    std::string name;
    bool enabled = true;
    AlertKind on = AlertKind::kFailure;
    std::int32_t consecutive = 1;         // kFailure: so many one after the other
    std::optional<Duration> longer_than;  // kLate, kLong
    std::optional<double> factor;         // kLong: of the median of the latest runs that succeeded
    AlertScope scope;
    std::optional<AlertWebhook> webhook;
    std::vector<std::string> email;  // addresses
    Duration remind_every{};         // while it goes on; zero: never
    bool recovery = true;            // tell when it is over
    std::optional<QuietHours> quiet;
    TimePoint created_at{};
    friend bool operator==(const AlertRule&, const AlertRule&) = default;
};

// Every fault of a rule, each with its JSON Pointer.
std::vector<Problem> ValidateAlertRule(const AlertRule& rule, schedule::ZoneDatabase& zones);

// Whether the rule is for a run, or for a fire of a job. The job may be null: there is none, or it
// is gone.
bool Concerns(const AlertScope& scope, const Run& run, const Job* job);
bool Concerns(const AlertScope& scope, const Job& job);
// Whether it can be for tasks of a type that have no job.
bool ConcernsTasks(const AlertScope& scope, std::string_view type);

// Whether nobody is to be told at this time. A zone that is not there any more is never quiet.
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

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/insight/sources.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::insight {

struct CalendarEffectParams {
    schedule::Calendar calendar;    // must be valid; replaces the stored one of the same name
    std::optional<TimePoint> from;  // none: the store's clock
    std::int64_t days = 365;
    // The jobs to compare, whether they use the calendar or not. Empty: all jobs that use it.
    std::vector<std::string> jobs;
    std::size_t max_jobs = 1'000;
    std::int64_t max_fires = 2'000'000;  // total over all jobs
};

// The effect of the calendar on one job, compared with the stored state.
struct JobEffect {
    std::string id;
    std::int64_t fires = 0;       // with the new calendar
    std::int64_t taken_away = 0;  // fires that exist only without it
    std::int64_t added = 0;       // fires that exist only with it
    std::vector<TimePoint> first_taken_away;
    bool complete = true;  // false: max_fires was reached
    std::string error;     // why its schedule cannot be compiled
    friend bool operator==(const JobEffect&, const JobEffect&) = default;
};

struct CalendarEffect {
    TimePoint from{};
    TimePoint to{};
    std::vector<JobEffect> jobs;
    bool complete = true;               // false: max_jobs was reached
    std::vector<std::string> days_off;  // dates on which the calendar allows nothing
};

// Compares the fires of jobs with and without a changed calendar. Read-only. Returns
// kInvalidArgument for a time or a job that it cannot use. Thread-safe.
Result<CalendarEffect> PreviewCalendar(const Sources& sources, const CalendarEffectParams& params);

std::string CalendarEffectToJson(const CalendarEffect& effect);
extern const codec::NamedSchema kCalendarEffectSchema;

}  // namespace ksana::insight

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
    schedule::Calendar calendar;    // valid; takes the place of the stored one of its name
    std::optional<TimePoint> from;  // none: the store's clock
    std::int64_t days = 365;
    // What they fire with this calendar, whether they use it or not. Empty: all that use it.
    std::vector<std::string> jobs;
    std::size_t max_jobs = 1'000;
    std::int64_t max_fires = 2'000'000;  // that are looked at, of all jobs together
};

// What the calendar does to one job, compared with what is stored.
struct JobEffect {
    std::string id;
    std::int64_t fires = 0;       // with it
    std::int64_t taken_away = 0;  // that there are without it
    std::int64_t added = 0;       // that there are only with it
    std::vector<TimePoint> first_taken_away;
    bool complete = true;  // false: there are more fires than were looked at
    std::string error;     // its schedule cannot be compiled
    friend bool operator==(const JobEffect&, const JobEffect&) = default;
};

struct CalendarEffect {
    TimePoint from{};
    TimePoint to{};
    std::vector<JobEffect> jobs;
    bool complete = true;               // false: more jobs use it than were looked at
    std::vector<std::string> days_off;  // dates on which nothing is let through
};

Result<CalendarEffect> PreviewCalendar(const Sources& sources, const CalendarEffectParams& params);

std::string CalendarEffectToJson(const CalendarEffect& effect);
extern const codec::NamedSchema kCalendarEffectSchema;

}  // namespace ksana::insight

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::engine {

// Finds a calendar by its name; null where there is none. Thread-safe.
using FindCalendar =
    std::function<std::shared_ptr<const schedule::CalendarIndex>(std::string_view name)>;

// Schedules of jobs, compiled once for each version of a job and kept. Bounded. Thread-safe.
class ScheduleCache {
  public:
    // What is given must outlive the book.
    ScheduleCache(schedule::ZoneDatabase& zones, FindCalendar find_calendar)
        : zones_(zones), find_calendar_(std::move(find_calendar)) {}

    // An error when the schedule names something that is not there (any more).
    Result<schedule::Schedule> Of(const model::Job& job);

    // Calendars or zones have changed: everything is compiled anew.
    void Forget();

  private:
    struct Entry {
        std::int64_t version;
        TimePoint created_at;  // a job that was deleted and made again begins at version 1, too
        schedule::Schedule schedule;
    };

    Result<schedule::Schedule> Compiled(const model::Job& job) const;

    schedule::ZoneDatabase& zones_;
    const FindCalendar find_calendar_;
    Mutex mutex_;
    std::unordered_map<std::string, Entry> entries_ KSANA_GUARDED_BY(mutex_);
    std::uint64_t age_ KSANA_GUARDED_BY(mutex_) = 0;  // grows when all is forgotten
};

}  // namespace ksana::engine

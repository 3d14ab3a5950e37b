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

// Returns the calendar with a name, or null. Must be thread-safe.
using FindCalendar =
    std::function<std::shared_ptr<const schedule::CalendarIndex>(std::string_view name)>;

// A cache of compiled schedules, one per job, for the job's current version. Cleared when it holds
// 100,000 entries. Owned by Node. Thread-safe.
class ScheduleCache {
  public:
    // `zones` and the object behind `find_calendar` must outlive the cache.
    ScheduleCache(schedule::ZoneDatabase& zones, FindCalendar find_calendar)
        : zones_(zones), find_calendar_(std::move(find_calendar)) {}

    // Returns the compiled schedule, or an error if it does not compile, such as for a missing
    // calendar.
    Result<schedule::Schedule> Of(const model::Job& job);

    // Clears the cache after a change of calendars or zones.
    void Forget();

  private:
    struct Entry {
        std::int64_t version;
        // Distinguishes a job that was deleted and created again, at version 1.
        TimePoint created_at;
        schedule::Schedule schedule;
    };

    Result<schedule::Schedule> Compiled(const model::Job& job) const;

    schedule::ZoneDatabase& zones_;
    const FindCalendar find_calendar_;
    Mutex mutex_;
    std::unordered_map<std::string, Entry> entries_ KSANA_GUARDED_BY(mutex_);
    std::uint64_t age_ KSANA_GUARDED_BY(mutex_) = 0;  // incremented by Forget
};

}  // namespace ksana::engine

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/calendars/calendar_cache.hpp"
#include "ksana/engine/calendars/calendar_watch.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/model/document.hpp"
#include "ksana/schedule/calendar/calendar.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

struct StoredCalendar {
    schedule::Calendar calendar;
    std::int64_t version = 0;
    TimePoint updated_at{};
    // Why the calendar cannot be parsed (it is empty then). It can still be replaced and deleted.
    std::string fault;
};

// Reads, changes and deletes calendars for all APIs: validates a calendar, accounts for due fires
// of its jobs with the old rules, stores it, and has next fires computed with the new rules (0019).
// Owned by the server. Thread-safe; calls run on the caller's thread and return the store's errors.
class CalendarService {
  public:
    // Everything passed by reference must outlive the service.
    CalendarService(store::Store& store, CalendarCache& book, CalendarWatch& watch,
                    FirePlans& plans)
        : store_(store), book_(book), watch_(watch), plans_(plans) {}

    // kNotFound: no such calendar. kDataLoss: it cannot be parsed.
    Result<StoredCalendar> Get(const std::string& name);
    // Returns the calendars whose names have the prefix, by name, without those that cannot be
    // parsed.
    Result<store::Page<StoredCalendar>> List(store::ListParams params);

    // Calls `edit` with the stored calendar (none: no calendar has this name) and stores its result
    // with the audit event if the stored calendar is still the same; otherwise calls `edit` again.
    // An error of `edit` is returned, and nothing is stored. Afterwards this node plans with the
    // new rules; the stored next fires of the jobs follow soon.
    using Edit = std::function<Result<schedule::Calendar>(const std::optional<StoredCalendar>&)>;
    Result<StoredCalendar> Change(const std::string& name, const Edit& edit, const Actor& by = {});

    // Deletes a calendar after `check` has accepted the stored one. kConflict: jobs use it.
    using Check = std::function<Result<void>(const StoredCalendar&)>;
    Result<void> Delete(const std::string& name, const Check& check, const Actor& by = {});

    const CalendarCache& book() const { return book_; }

  private:
    Result<StoredCalendar> Find(const std::string& name);
    Result<void> AccountForUsers(const std::string& name);
    Result<void> RefuseWhileUsed(const std::string& name);

    store::Store& store_;
    CalendarCache& book_;
    CalendarWatch& watch_;
    FirePlans& plans_;
    Mutex changing_;  // serializes the changes through this service
};

}  // namespace ksana::engine

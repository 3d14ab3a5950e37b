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
    // Why it cannot be read (the calendar is empty then): it can be replaced and deleted.
    std::string fault;
};

// What people do with calendars: checks them, accounts for the fires of the jobs that use them as
// they were, stores them, and has the next fires found as they are now. Thread-safe.
class CalendarService {
  public:
    // What is given must outlive it.
    CalendarService(store::Store& store, CalendarCache& book, CalendarWatch& watch,
                    FirePlans& plans)
        : store_(store), book_(book), watch_(watch), plans_(plans) {}

    Result<StoredCalendar> Get(const std::string& name);
    // Calendars whose names begin so, by name; without those that cannot be read.
    Result<store::Page<StoredCalendar>> List(store::ListParams params);

    // Makes a calendar of what is there (none: there is nothing of this name), and stores it if
    // nobody else has meanwhile, else asks again. An error of `edit` leaves everything as it is.
    // The audit is kept with it. When this comes back this node plans by the new rules; what the
    // jobs have in store of their next fires follows soon.
    using Edit = std::function<Result<schedule::Calendar>(const std::optional<StoredCalendar>&)>;
    Result<StoredCalendar> Change(const std::string& name, const Edit& edit, const Actor& by = {});

    // kConflict while jobs use it. `check` is asked about what is there first.
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
    Mutex changing_;  // changes through this service come one after the other
};

}  // namespace ksana::engine

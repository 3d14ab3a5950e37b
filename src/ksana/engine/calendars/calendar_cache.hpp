#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/document.hpp"
#include "ksana/schedule/calendar/calendar.hpp"
#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The prefix of the settings keys of calendars.
inline constexpr std::string_view kCalendarPrefix = "calendar/";
inline constexpr std::size_t kMaxCalendars = 1'000;

// A snapshot of all calendars, compiled, because planning needs them inside a transaction, where
// the store cannot be called. Owned by Node; CalendarWatch refreshes it. Thread-safe. A failed
// refresh keeps the old snapshot.
class CalendarCache {
  public:
    // `store` must outlive the cache.
    explicit CalendarCache(store::Store& store) : store_(store) {}

    // Reads all calendars and compiles the new ones. Returns the names of those whose rules were
    // created, changed or deleted, or the store's error.
    Result<std::vector<std::string>> Refresh();

    // Returns null if there is no usable calendar with this name.
    std::shared_ptr<const schedule::CalendarIndex> Find(std::string_view name) const;
    // Returns the calendar as its author wrote it.
    std::optional<schedule::Calendar> Rules(std::string_view name) const;
    std::size_t size() const;

  private:
    struct Entry {
        std::int64_t version = 0;
        // Distinguishes a calendar that was deleted and created again, at version 1.
        TimePoint updated_at{};
        std::shared_ptr<const schedule::Calendar> rules;  // null: cannot be parsed
        std::shared_ptr<const schedule::CalendarIndex> index;
    };
    using Entries = std::map<std::string, Entry, std::less<>>;

    static Entry Compile(const model::Document& document);
    Result<Entries> Read() const;
    std::shared_ptr<const Entries> Known() const;

    store::Store& store_;
    // Serializes refreshes, so that an older reading never replaces a newer one.
    Mutex refreshing_ KSANA_ACQUIRED_BEFORE(mutex_);
    mutable Mutex mutex_;
    std::shared_ptr<const Entries> entries_ KSANA_GUARDED_BY(mutex_) =
        std::make_shared<const Entries>();
};

}  // namespace ksana::engine

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

// Where calendars stand among the settings.
inline constexpr std::string_view kCalendarPrefix = "calendar/";
inline constexpr std::size_t kMaxCalendars = 1'000;

// The calendars as they were when last read, compiled: planning asks for them inside a transaction,
// where the store cannot be called. Thread-safe.
class CalendarCache {
  public:
    // The store must outlive it.
    explicit CalendarCache(store::Store& store) : store_(store) {}

    // Reads all of them, and compiles those that are new. The names of those whose rules are not
    // what they were: made, changed, gone.
    Result<std::vector<std::string>> Refresh();

    // Null where there is none of this name.
    std::shared_ptr<const schedule::CalendarIndex> Find(std::string_view name) const;
    // As people wrote it.
    std::optional<schedule::Calendar> Rules(std::string_view name) const;
    std::size_t size() const;

  private:
    struct Entry {
        std::int64_t version = 0;
        TimePoint updated_at{};  // one that was deleted and made again begins at version 1, too
        std::shared_ptr<const schedule::Calendar> rules;  // null: it cannot be read
        std::shared_ptr<const schedule::CalendarIndex> index;
    };
    using Entries = std::map<std::string, Entry, std::less<>>;

    static Entry Compile(const model::Document& document);
    Result<Entries> Read() const;
    std::shared_ptr<const Entries> Known() const;

    store::Store& store_;
    // One at a time, so that an older answer never follows a newer one.
    Mutex refreshing_ KSANA_ACQUIRED_BEFORE(mutex_);
    mutable Mutex mutex_;
    std::shared_ptr<const Entries> entries_ KSANA_GUARDED_BY(mutex_) =
        std::make_shared<const Entries>();
};

}  // namespace ksana::engine

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// All that is set must hold (G-15).
struct EventFilter {
    std::string tenant;
    std::string user;
    std::string action;
    std::string resource_type;
    std::string resource_id;
    std::optional<TimePoint> from;   // at or after
    std::optional<TimePoint> until;  // before
};

// In the order of seq, which is the order in which they were stored.
struct EventQuery {
    EventFilter filter;
    bool descending = true;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
};

// What was done by whom. Append only.
class EventStore {
  public:
    virtual ~EventStore() = default;
    virtual Result<void> Append(std::vector<model::AuditEvent> events) = 0;
    virtual Result<Page<model::AuditEvent>> List(const EventQuery& query) = 0;
    // Deletes events from before a time, at most so many; how many it were.
    virtual Result<std::size_t> Purge(TimePoint before, std::size_t limit) = 0;
};

}  // namespace ksana::store

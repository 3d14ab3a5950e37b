#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// Selects the events that meet every member that is set (G-15).
struct EventFilter {
    std::string tenant;
    std::string user;
    std::string action;
    std::string resource_type;
    std::string resource_id;
    std::optional<TimePoint> from;   // inclusive
    std::optional<TimePoint> until;  // exclusive
};

// Events by seq, which is the order in which they were stored.
struct EventQuery {
    EventFilter filter;
    bool descending = true;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
};

// The audit log: who did what. Events are appended and purged, never changed. Owned by the Store.
// Thread-safe. Each call is one transaction; after an error nothing has changed.
class EventStore {
  public:
    virtual ~EventStore() = default;
    // Stores at most kMaxBatch events, or none. The store sets `seq`; `at` stays as given.
    virtual Result<void> Append(std::vector<model::AuditEvent> events) = 0;
    virtual Result<Page<model::AuditEvent>> List(const EventQuery& query) = 0;
    // Deletes at most `limit` events older than `before` and returns how many.
    virtual Result<std::size_t> Purge(TimePoint before, std::size_t limit) = 0;
};

}  // namespace ksana::store

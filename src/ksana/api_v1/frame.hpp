#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/api_v1/agent_hub.hpp"
#include "ksana/api_v1/cursors.hpp"
#include "ksana/api_v1/event_hub.hpp"
#include "ksana/api_v1/idempotency.hpp"
#include "ksana/base/random.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/engine/agent_desk.hpp"
#include "ksana/engine/alert_desk.hpp"
#include "ksana/engine/backfill_desk.hpp"
#include "ksana/engine/calendar_desk.hpp"
#include "ksana/engine/flights.hpp"
#include "ksana/engine/job_desk.hpp"
#include "ksana/engine/limits.hpp"
#include "ksana/engine/run_desk.hpp"
#include "ksana/engine/task_desk.hpp"
#include "ksana/engine/type_desk.hpp"
#include "ksana/http_server/router.hpp"
#include "ksana/insight/explain.hpp"
#include "ksana/insight/sources.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api_v1 {

// What limits do on this node, now.
struct LimitUses {
    std::function<std::vector<engine::LimitUse>()> all;
    std::function<engine::Flights::GroupUse(const std::string& group)> of_group;
};

// A setting of the server as people may see it.
struct ShownSetting {
    std::string key;
    std::string value;   // without secrets
    std::string source;  // "default", "ksana.toml:3", "KSANA_PORT", "--port"
};

// What /api/v1 works on. All must outlive the router.
struct Services {
    engine::JobDesk& jobs;
    engine::RunDesk& runs;
    engine::BackfillDesk& backfills;
    engine::TaskDesk& tasks;
    engine::AgentDesk& agents;
    AgentHub& agent_hub;
    EventHub& events;
    store::Store& store;
    Random& random;  // thread-safe
    UuidGenerator& ids;
    engine::ScheduleBook& schedules;
    schedule::ZoneDatabase& zones;
    engine::CalendarDesk& calendars;
    engine::AlertDesk& alerts;
    engine::TypeDesk& types;
    std::function<insight::NodeView()> node_view;  // thread-safe; may be empty
    std::string version;                           // of the server
    bool quick_reads = false;                      // reads of one row never wait for anybody
    LimitUses limits = {};
    std::vector<ShownSetting> settings = {};
};

// What handlers share.
struct Desk {
    explicit Desk(const Services& given)
        : services(given), cursors(given.store, given.random), keys(given.store, given.ids) {}

    Services services;
    Cursors cursors;
    Idempotency keys;
};

struct RouteInfo {
    http_server::Method method;
    const char* path;  // under /api/v1
    http_server::Permission permission;
    const char* description;
    http_server::Where where = http_server::Where::kPool;
    std::optional<std::size_t> body_limit = {};  // instead of the server's
};

// Adds a route with all that the routes of /api/v1 have in common: errors as problem+json, a body
// that is JSON, Idempotency-Key for POST, Ksana-Version.
void AddRoute(http_server::Router& router, const std::shared_ptr<Desk>& desk, const RouteInfo& info,
              CallHandler handler);

// The same for a handler that may answer later. An Idempotency-Key means nothing to it.
void AddAsyncRoute(http_server::Router& router, const RouteInfo& info,
                   http_server::AsyncHandler handler);

// Where the answers of insight come from: this server's store, schedules and calendars.
insight::Sources InsightSources(const Services& services);

// An answer about the request itself where no Error code fits (412, 415, 428).
http_server::Response Refuse(const http_server::Request& request, const http_server::Fault& fault);

}  // namespace ksana::api_v1

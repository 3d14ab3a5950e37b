#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/api/description/description.hpp"
#include "ksana/api/edge/cursors.hpp"
#include "ksana/api/edge/idempotency.hpp"
#include "ksana/api/edge/route_info.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/engine/dispatch/active_attempts.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/engine/nodes/node_watch.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/store/store.hpp"

// Services are only declared here: a handler includes the headers of those it calls.
namespace ksana::engine {
class AgentPolls;
class AgentService;
class AlertService;
class BackfillService;
class CalendarService;
class JobService;
class RunService;
class ScheduleCache;
class TaskService;
class TypeService;
class WorkerService;
}  // namespace ksana::engine
namespace ksana::insight {
struct NodeView;
struct Sources;
}  // namespace ksana::insight
namespace ksana::schedule {
class ZoneDatabase;
}

namespace ksana::api {

class EventStreams;

// Current use of limits on this node. Both functions are thread-safe.
struct LimitUses {
    std::function<std::vector<engine::LimitUse>()> all;
    std::function<engine::GroupUse(const std::string& group)> of_group;
};

// A setting of the server as GET /api/v1/settings shows it.
struct ShownSetting {
    std::string key;
    std::string value;   // without secrets
    std::string source;  // "default", "ksana.toml:3", "KSANA_PORT", "--port"
};

// What the handlers of /api/v1 call. All references must outlive the router.
struct Services {
    engine::JobService& jobs;
    engine::RunService& runs;
    engine::BackfillService& backfills;
    engine::TaskService& tasks;
    engine::AgentService& agents;
    engine::AgentPolls& agent_polls;
    engine::WorkerService& workers;
    EventStreams& events;
    store::Store& store;
    Random& random;  // thread-safe
    UuidGenerator& ids;
    engine::ScheduleCache& schedules;
    schedule::ZoneDatabase& zones;
    engine::CalendarService& calendars;
    engine::AlertService& alerts;
    engine::TypeService& types;
    std::function<insight::NodeView()> node_view;  // thread-safe; may be empty
    std::string version;                           // version of the server
    bool quick_reads = false;                      // reads of one row never block
    LimitUses limits = {};
    std::vector<ShownSetting> settings = {};
    model::TraceSampler sampler = {};  // for the traceparent that agents get
    // The servers that share the store; thread-safe; may be empty.
    std::function<Result<std::vector<engine::NodeStatus>>()> nodes = {};
};

// State that all handlers of /api/v1 share. The routes own it through shared pointers; its members
// are thread-safe.
struct HandlerContext {
    explicit HandlerContext(const Services& given)
        : services(given), cursors(given.store, given.random), keys(given.store, given.ids) {}

    Services services;
    Cursors cursors;
    Idempotency keys;
    Description description;
};

// Adds a route with what all routes of /api/v1 have in common: errors as problem+json with
// Retry-After, a check of the body's media type, no query except on reads, and Idempotency-Key for
// POST. Also adds the route to the description, which keeps a pointer: `info` must be a constant.
void AddRoute(http_server::Router& router, const std::shared_ptr<HandlerContext>& context,
              const RouteInfo& info, CallHandler handler);

// Does the same for a handler that may answer later. Idempotency-Key is ignored.
void AddAsyncRoute(http_server::Router& router, const std::shared_ptr<HandlerContext>& context,
                   const RouteInfo& info, http_server::AsyncHandler handler);

// Returns what insight reads from: this server's store, schedules and calendars.
insight::Sources InsightSources(const Services& services);

// Returns a problem about the request itself, where no Error code fits (412, 415, 428).
http_server::Response Refuse(const http_server::Request& request, const http_server::Fault& fault);

}  // namespace ksana::api

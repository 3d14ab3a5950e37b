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
#include "ksana/http_server/routing/router.hpp"
#include "ksana/store/store.hpp"

// The services stand for themselves: a handler includes those that it calls.
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

// What limits do on this node, now.
struct LimitUses {
    std::function<std::vector<engine::LimitUse>()> all;
    std::function<engine::GroupUse(const std::string& group)> of_group;
};

// A setting of the server as people may see it.
struct ShownSetting {
    std::string key;
    std::string value;   // without secrets
    std::string source;  // "default", "ksana.toml:3", "KSANA_PORT", "--port"
};

// What /api/v1 works on. All must outlive the router.
struct Services {
    engine::JobService& jobs;
    engine::RunService& runs;
    engine::BackfillService& backfills;
    engine::TaskService& tasks;
    engine::AgentService& agents;
    engine::AgentPolls& agent_polls;
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
    std::string version;                           // of the server
    bool quick_reads = false;                      // reads of one row never wait for anybody
    LimitUses limits = {};
    std::vector<ShownSetting> settings = {};
};

// What handlers share.
struct HandlerContext {
    explicit HandlerContext(const Services& given)
        : services(given), cursors(given.store, given.random), keys(given.store, given.ids) {}

    Services services;
    Cursors cursors;
    Idempotency keys;
    Description description;
};

// Adds a route with all that the routes of /api/v1 have in common: errors as problem+json, a body
// that is JSON, Idempotency-Key for POST, Ksana-Version. The description names it, too: `info` must
// be a constant.
void AddRoute(http_server::Router& router, const std::shared_ptr<HandlerContext>& context,
              const RouteInfo& info, CallHandler handler);

// The same for a handler that may answer later. An Idempotency-Key means nothing to it.
void AddAsyncRoute(http_server::Router& router, const std::shared_ptr<HandlerContext>& context,
                   const RouteInfo& info, http_server::AsyncHandler handler);

// Where the answers of insight come from: this server's store, schedules and calendars.
insight::Sources InsightSources(const Services& services);

// An answer about the request itself where no Error code fits (412, 415, 428).
http_server::Response Refuse(const http_server::Request& request, const http_server::Fault& fault);

}  // namespace ksana::api

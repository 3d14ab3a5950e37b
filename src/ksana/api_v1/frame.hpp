#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/api_v1/cursors.hpp"
#include "ksana/api_v1/event_hub.hpp"
#include "ksana/api_v1/idempotency.hpp"
#include "ksana/base/random.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/engine/backfill_desk.hpp"
#include "ksana/engine/job_desk.hpp"
#include "ksana/engine/run_desk.hpp"
#include "ksana/http_server/router.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api_v1 {

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
    EventHub& events;
    store::Store& store;
    Random& random;  // thread-safe
    UuidGenerator& ids;
    std::string version;       // of the server
    bool quick_reads = false;  // reads of one row never wait for anybody
    std::vector<ShownSetting> settings;
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
};

// Adds a route with all that the routes of /api/v1 have in common: errors as problem+json, a body
// that is JSON, Idempotency-Key for POST, Ksana-Version.
void AddRoute(http_server::Router& router, const std::shared_ptr<Desk>& desk, const RouteInfo& info,
              CallHandler handler);

// An answer about the request itself where no Error code fits (412, 415, 428).
http_server::Response Refuse(const http_server::Request& request, const http_server::Fault& fault);

}  // namespace ksana::api_v1

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ksana/api/edge/timely_check.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::api {

// One thing that must be well. The function returns soon; an error says what is wrong.
struct HealthCheck {
    std::string name;
    std::function<Result<void>()> check;
};

struct Health {
    std::vector<HealthCheck> live;   // of the process itself: no dependency, never blocks
    std::vector<HealthCheck> ready;  // whether it can serve
    TimelyCheck* store = nullptr;    // of `ready`, too: what may hang, and must not hang a probe
    const telemetry::Registry& metrics;
};

// /livez, /readyz (?verbose lists every check), /health (K-14: 200 as long as the process lives),
// and /metrics in the text format of Prometheus. What `health` refers to must outlive the router.
void AddHealthRoutes(http_server::Router& router, Health health);

}  // namespace ksana::api

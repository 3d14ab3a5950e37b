#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ksana/api/edge/timed_check.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::api {

// One condition of health. `check` must return soon; its error says what is wrong.
struct HealthCheck {
    std::string name;
    std::function<Result<void>()> check;
    bool informs = false;  // its failure is shown, and the server counts as well all the same
};

struct Health {
    std::vector<HealthCheck> live;   // the process itself: no dependencies, never blocks
    std::vector<HealthCheck> ready;  // whether the server can serve requests
    TimedCheck* store = nullptr;     // part of `ready` that may hang; may be null
    const telemetry::Registry& metrics;
};

// Adds /livez, /readyz (?verbose lists every check), /health (K-14: 200 as long as the process
// lives), and /metrics in the text format of Prometheus, or as OpenMetrics if the client prefers
// that. What `health` refers to must outlive the router.
void AddHealthRoutes(http_server::Router& router, Health health);

}  // namespace ksana::api

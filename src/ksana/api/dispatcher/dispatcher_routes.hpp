#pragma once

#include <functional>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {
class JobService;
class WorkerService;
}  // namespace ksana::engine

namespace ksana::api {

// What the routes of document D call. All references must outlive the router.
struct DispatcherServices {
    engine::JobService& jobs;
    engine::WorkerService& workers;
    store::Store& store;
    Random& random;                  // for incarnations of workers; thread-safe
    model::PolicyDefaults defaults;  // for what a task does not say
    // Whether a run goes to workers through a message broker; may be empty: none does.
    std::function<bool(const model::Run& run)> published = {};
};

// Adds the paths of document D, /api/tasks and /api/workers. Each is a thin translation of what
// /api/v1 does.
void AddDispatcherRoutes(http_server::Router& router, const DispatcherServices& services);

// Adds /api/workers: registration and heartbeats (D-05).
void AddDispatcherWorkerRoutes(http_server::Router& router, const DispatcherServices& services);

}  // namespace ksana::api

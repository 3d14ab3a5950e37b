#pragma once

#include "ksana/engine/services/job_service.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// What the /jobs dialect calls. All references must outlive the router.
struct TimerServices {
    engine::JobService& jobs;
    store::Store& store;
    model::PolicyDefaults defaults;  // shown where a job sets no value (K-08)
    // Reads of one job never block, so they run on the I/O thread.
    bool quick_reads = false;
};

// Adds the paths of document K: /jobs and its verbs, nothing else (K-14).
void AddTimerRoutes(http_server::Router& router, const TimerServices& services);

// Default page size of GET /jobs; a Link header leads to the next page.
inline constexpr std::size_t kTimerListSize = 1'000;

}  // namespace ksana::api

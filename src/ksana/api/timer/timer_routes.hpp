#pragma once

#include "ksana/engine/services/job_service.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// What the /jobs dialect works on. All must outlive the router.
struct TimerServices {
    engine::JobService& jobs;
    store::Store& store;
    model::PolicyDefaults defaults;  // shown where a job has none of its own (K-08)
    // Reads of one job never wait for anybody: they are answered on the I/O thread.
    bool quick_reads = false;
};

// The paths of document K: /jobs, its verbs, and nothing else (K-14).
void AddTimerRoutes(http_server::Router& router, const TimerServices& services);

// Jobs in one answer of GET /jobs where the client does not say; a Link header leads on.
inline constexpr std::size_t kTimerListSize = 1'000;

}  // namespace ksana::api

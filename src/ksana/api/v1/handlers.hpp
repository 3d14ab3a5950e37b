#pragma once

#include <memory>

#include "ksana/api/edge/frame.hpp"

namespace ksana::api {

// The run that the path names by {id}; an id that is none is of no run.
Result<Uuid> RunIdOf(const http_server::Request& request);

// The protocol of agents: claim, heartbeat, report (docs/api.md).
void AddAgentRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Under /api/v1/alerts and /api/v1/alert-incidents: who is told of what, and what there is to tell.
void AddAlertRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// What was done by whom.
void AddAuditRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Runs for fires of the past.
void AddBackfillRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Calendars (K-22): kept by name, imported, and what they would do before they are saved.
void AddCalendarRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Under /api/v1/callbacks: what became of callbacks, and dead letters sent again.
void AddCallbackRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// The stream of what happens.
void AddEventRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

void AddGroupRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// What happened to a fire and why, preview of a schedule, simulation. They change nothing.
void AddInsightRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// /jobs and /jobs/{id} with its verbs; the lists are in handlers.hpp.
void AddJobRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// GET /jobs and /jobs/{id}/ledger.
void AddJobListRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

void AddLimitRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// How much waits, for how long, and how fast it goes.
void AddQueueRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// /runs, /runs/{id} with its verbs, and /jobs/{id}/runs.
void AddRunRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Tasks come in, one by one or by the thousand.
void AddTaskRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Types of runs (T-06): made, changed and deleted by code.
void AddTypeRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

}  // namespace ksana::api

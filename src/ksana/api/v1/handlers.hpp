#pragma once

#include <memory>

#include "ksana/api/edge/frame.hpp"

namespace ksana::api {

// Returns the run id {id} of the path. A text that is no UUID gives kNotFound.
Result<Uuid> RunIdOf(const http_server::Request& request);

// Adds the protocol of agents: claim, heartbeat, report (docs/api.md).
void AddAgentRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds /alerts and /alert-incidents: rules that send notifications, and the incidents they found.
void AddAlertRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds the list of audit events.
void AddAuditRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds backfills: runs for fires of the past.
void AddBackfillRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds calendars (K-22): stored by name, imported, and previewed before they are saved.
void AddCalendarRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds /callbacks: the state of callbacks, and redelivery of dead letters.
void AddCallbackRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds the stream of events.
void AddEventRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

void AddGroupRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds explanations of fires, schedule previews and simulations. They change nothing.
void AddInsightRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds /jobs and /jobs/{id} with its verbs; AddJobListRoutes adds the lists.
void AddJobRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds GET /jobs and /jobs/{id}/ledger.
void AddJobListRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

void AddLimitRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds /nodes: the servers that share the store.
void AddNodeRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds queue statistics: depth, waiting time and throughput.
void AddQueueRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds /runs, /runs/{id} with its verbs, and /jobs/{id}/runs.
void AddRunRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds the submission of tasks, one at a time or in batches.
void AddTaskRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds types of runs (T-06), which are stored by code.
void AddTypeRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

// Adds /workers: registration, heartbeats, and what users ask about workers and agents.
void AddWorkerRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context);

}  // namespace ksana::api

#pragma once

#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/engine/services/task_service.hpp"
#include "ksana/engine/services/type_service.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// What the routes of document T call. All references must outlive the router.
struct TaskServices {
    engine::TaskService& tasks;
    engine::AgentService& agents;
    engine::RunService& runs;
    engine::TypeService& types;
    engine::JobService& jobs;
    store::Store& store;
    model::PolicyDefaults defaults;  // shown where a type sets no value
};

// Adds all paths of document T: /task, /task-his, /task-metadata, /periodic-task and
// /periodic-task-log. Each is a thin translation of what /api/v1 does.
void AddTaskRoutes(http_server::Router& router, const TaskServices& services);

// Adds /periodic-task: cron expressions that put tasks into the queue (T-13).
void AddPeriodicTaskRoutes(http_server::Router& router, const TaskServices& services);

// Adds /task-metadata: types of tasks (T-06).
void AddTaskMetadataRoutes(http_server::Router& router, const TaskServices& services);

}  // namespace ksana::api

#pragma once

#include "ksana/engine/agent_desk.hpp"
#include "ksana/engine/job_desk.hpp"
#include "ksana/engine/run_desk.hpp"
#include "ksana/engine/task_desk.hpp"
#include "ksana/engine/type_desk.hpp"
#include "ksana/http_server/router.hpp"
#include "ksana/model/effective_policy.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// What the dialect of document T works on. All must outlive the router.
struct TaskDesks {
    engine::TaskDesk& tasks;
    engine::AgentDesk& agents;
    engine::RunDesk& runs;
    engine::TypeDesk& types;
    engine::JobDesk& jobs;
    store::Store& store;
    model::PolicyDefaults defaults;  // shown where a type has none of its own
};

// The paths of document T: /task, /task-his, /task-metadata, /periodic-task and
// /periodic-task-log. Each is a thin translation of what /api/v1 does.
void AddTaskRoutes(http_server::Router& router, const TaskDesks& desks);

}  // namespace ksana::api

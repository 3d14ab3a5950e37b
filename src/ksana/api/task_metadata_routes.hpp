#pragma once

#include "ksana/api/task_routes.hpp"

namespace ksana::api {

// /task-metadata: types of tasks (T-06).
void AddTaskMetadataRoutes(http_server::Router& router, const TaskDesks& desks);

}  // namespace ksana::api

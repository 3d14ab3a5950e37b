#pragma once

#include "ksana/api/task_routes.hpp"

namespace ksana::api {

// /periodic-task: cron expressions that put tasks into the queue (T-13).
void AddPeriodicTaskRoutes(http_server::Router& router, const TaskDesks& desks);

}  // namespace ksana::api

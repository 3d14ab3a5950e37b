#pragma once

#include "ksana/http_server/routing/router.hpp"
#include "ksana/http_server/routing/work_pool.hpp"

namespace ksana::http_server {

// Both functions authorise a request and run its handler on the calling thread. An exception of the
// handler is logged and becomes a 500.

// For a synchronous handler. Returns its response, or its error as problem+json.
Response RunHandler(const Router& router, const Route& route, Request& request);

// For a synchronous or an asynchronous handler. Answers through `work.reply`.
void RunWork(const Router& router, Work work);

}  // namespace ksana::http_server

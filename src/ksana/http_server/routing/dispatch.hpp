#pragma once

#include "ksana/http_server/routing/router.hpp"
#include "ksana/http_server/routing/work_pool.hpp"

namespace ksana::http_server {

// Authorises a request and runs its handler, on the calling thread. Whatever a handler throws is
// logged and becomes a 500.

// For a synchronous handler.
Response RunHandler(const Router& router, const Route& route, Request& request);

// For either kind.
void RunWork(const Router& router, Work work);

}  // namespace ksana::http_server

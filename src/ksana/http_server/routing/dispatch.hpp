#pragma once

#include <optional>

#include "ksana/http_server/routing/router.hpp"
#include "ksana/http_server/routing/work_pool.hpp"

namespace ksana::http_server {

// Decides from the head of a request whether it may go on: whether its Host is one of this server's
// (421), and who calls (401, 403). Sets request.caller, or returns the refusal. Does not look at
// the body, which is read only after this.
std::optional<Response> Refusal(const Router& router, const Route& route, Request& request);

// Both functions run the handler of a request on the calling thread. An exception of the handler is
// logged and becomes a 500.

// For a synchronous handler. Returns its response, or its error as problem+json.
Response RunHandler(const Route& route, const Request& request);

// For a synchronous or an asynchronous handler. Answers through `work.reply`.
void RunWork(Work work);

}  // namespace ksana::http_server

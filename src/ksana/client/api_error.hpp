#pragma once

#include <string_view>

#include "ksana/base/error/error.hpp"
#include "ksana/http_client/call.hpp"

namespace ksana::client {

// What an answer of 400 and above says. problem+json (RFC 9457) comes out with every fault, and its
// type and request id stand in the message, so that the server's log can be asked. Anything else
// (a proxy's page) is told by its status.
Error ErrorOfAnswer(int status, std::string_view body);

// A call that got no answer. `server` is what the user named.
Error ErrorOfCall(const http_client::CallAnswer& answer, std::string_view server);

}  // namespace ksana::client

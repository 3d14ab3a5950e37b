#pragma once

#include <string_view>

#include "ksana/base/error/error.hpp"
#include "ksana/http_client/call.hpp"

namespace ksana::client {

// Returns the error of an answer of 400 and above. problem+json (RFC 9457) yields every problem,
// and its type and request id are part of the message, so that a user can find the request in the
// server's log. Any other body (a proxy's page) is described by its status.
Error ErrorOfAnswer(int status, std::string_view body);

// Returns the error of a call that got no answer: kDeadlineExceeded after a timeout, else
// kUnavailable. `server` is as the user named it.
Error ErrorOfCall(const http_client::CallAnswer& answer, std::string_view server);

}  // namespace ksana::client

#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/http_client/egress.hpp"

namespace ksana::client {

// Returns the URL of a server without slashes at its end. kInvalidArgument if it is none, or holds
// credentials.
Result<std::string> CheckServerUrl(std::string server);

// The user has named the server, so every address is allowed.
http_client::EgressRules AnyAddress();

}  // namespace ksana::client

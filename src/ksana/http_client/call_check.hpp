#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

// Why a call cannot be sent as it is asked for, or nothing: what would let a caller write into the
// connection beside the message, or hand credentials to whoever reads the URL.
std::optional<std::string> FaultOf(const CallRequest& request);

// "http://user@host/": something before the host.
bool HasCredentials(std::string_view url);

// Takes away what must not go to another origin: Authorization, Cookie and everything whose name
// speaks of a key, a token, a secret or a signature.
void DropCredentials(std::vector<Header>& headers);

}  // namespace ksana::http_client

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

// Returns why the call must not be sent, or nullopt if it is valid. Rejects headers that would let
// the caller inject bytes into the connection, and URLs that would expose credentials in logs.
std::optional<std::string> FaultOf(const CallRequest& request);

// Returns whether the URL has user information before its host: "http://user@host/".
bool HasCredentials(std::string_view url);

// Removes the headers that must not go to another origin: every header whose name contains "auth",
// "cookie", "token", "key", "secret", "signature" or "credential".
void DropCredentials(std::vector<Header>& headers);

}  // namespace ksana::http_client

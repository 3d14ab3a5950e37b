#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/http_client/call.hpp"
#include "ksana/http_client/egress.hpp"

// What people are told of a call that failed, whichever way it went. `where` is an address with its
// port.

namespace ksana::http_client {

std::string TooManyHeaders(std::size_t most, std::string_view where);
std::string BrokenHead(std::string_view where);
std::string NoConnection(int system_error, std::string_view where);

// By what the answer has of it.
std::string TimedOut(const CallAnswer& answer);

// Why the rules do not let a call go there; nothing: they do.
std::optional<std::string> RefusalText(const IpAddress& address, int port,
                                       const EgressRules& rules);

}  // namespace ksana::http_client

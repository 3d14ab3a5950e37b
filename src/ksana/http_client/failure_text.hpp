#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/http_client/call.hpp"
#include "ksana/http_client/egress.hpp"

// Error texts for people, shared by the plain path and the libcurl path. `where` is an address with
// its port.

namespace ksana::http_client {

std::string TooManyHeaders(std::size_t most, std::string_view where);
std::string BrokenHead(std::string_view where);
std::string NoConnection(int system_error, std::string_view where);

// Returns the text for a timeout, according to how far `answer` got: connection, status, body.
// `fault`: why, in the words of the TLS library.
std::string NoTls(std::string_view fault, std::string_view where);
std::string TimedOut(const CallAnswer& answer);

// Returns the error text if `rules` refuse the address, or nullopt if they allow it.
std::optional<std::string> RefusalText(const IpAddress& address, int port,
                                       const EgressRules& rules);

}  // namespace ksana::http_client

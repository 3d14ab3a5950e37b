#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ksana::model {

// What is wrong with a URL that a job is to call, or nothing. Accepted: http and https, a host
// name or an address, an optional port; {{placeholders}} only after the host; no credentials.
std::optional<std::string> FaultOfHttpUrl(std::string_view url);

// "example.com:443" of "https://Example.com/path": lower case and always with a port. Empty for
// what FaultOfHttpUrl refuses.
std::string HostAndPortOf(std::string_view url);

// Whether a text is a host as a URL has it, "example.com", "10.0.0.1" or "[::1]", or one with a
// port.
bool IsHost(std::string_view text);

// RFC 9110: a header name is a token.
bool IsHeaderName(std::string_view name);

// Visible characters, blanks and tabs, and bytes above ASCII; never CR, LF or NUL.
bool IsHeaderValue(std::string_view value);

// Headers that belong to the connection and not to the job.
bool IsReservedHeader(std::string_view name);

}  // namespace ksana::model

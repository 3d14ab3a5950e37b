#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ksana::model {

// Returns what is wrong with the URL of a job's HTTP call, or nullopt if the URL is valid. Valid
// are http and https, a host name or an address, and an optional port. {{placeholders}} may stand
// only after the host; credentials are refused.
std::optional<std::string> CheckHttpUrl(std::string_view url);

// Returns the host and port of a URL, "example.com:443" for "https://Example.com/path": in lower
// case and always with a port. Returns "" for a URL with a bad scheme, host or port.
std::string HostAndPortOf(std::string_view url);

// Returns whether `text` is a host as in a URL ("example.com", "10.0.0.1" or "[::1]"), with or
// without a port.
bool IsHost(std::string_view text);

// Returns whether `name` is a token (RFC 9110) of at most 128 characters.
bool IsHeaderName(std::string_view name);

// Returns whether `value` has at most 8192 bytes, all of them visible characters, blanks, tabs or
// bytes above ASCII. CR, LF and NUL are refused.
bool IsHeaderValue(std::string_view value);

// Returns whether the header belongs to the connection and so cannot be set by a job.
bool IsReservedHeader(std::string_view name);

}  // namespace ksana::model

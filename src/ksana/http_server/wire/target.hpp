#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/http_server/routing/message.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::http_server {

// The parsed target of a request line.
struct Target {
    std::string path;  // as sent, at least "/"; "*" if `asterisk`
    std::vector<std::string> segments;
    TextPairs query;
    std::string authority;  // host and port of an absolute target; else empty
    bool asterisk = false;  // "*": the request is about the server as a whole
};

// Parses `text` into `target`. Returns a 400 fault on failure. Strict, so that this server and
// every proxy before it read a path alike. Rejects unencoded non-ASCII bytes and control
// characters, broken percent-encoding, encoded NUL, invalid UTF-8, user names and fragments; and in
// the path also encoded control characters, encoded slashes, "." and ".." segments (plain or
// encoded) and empty segments. A trailing slash is an empty last segment, which matches no route.
// In a query, "+" is a blank.
std::optional<Fault> ParseTarget(std::string_view text, Target& target);

// Returns whether the text has only characters of a host with or without a port.
bool IsHost(std::string_view text);

}  // namespace ksana::http_server

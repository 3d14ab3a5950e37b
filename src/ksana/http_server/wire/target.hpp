#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/http_server/routing/message.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::http_server {

// The target of a request line, taken apart.
struct Target {
    std::string path;  // as sent, "/" at least; "*" when asterisk
    std::vector<std::string> segments;
    TextPairs query;
    std::string authority;  // of an absolute target; else empty
    bool asterisk = false;  // "*": the server as a whole
};

// Strict, so that a path means one thing to us and to every proxy before us. Refused with 400: a
// broken or upper-ASCII encoding, control characters and NUL, bad UTF-8, "." and ".." segments and
// empty ones (each also when encoded), encoded slashes, user names and fragments. A slash at the
// end is an empty last segment, which no route has. In a query "+" is a blank.
std::optional<Fault> ParseTarget(std::string_view text, Target& target);

// A host with or without a port, as in a Host field.
bool IsHost(std::string_view text);

}  // namespace ksana::http_server

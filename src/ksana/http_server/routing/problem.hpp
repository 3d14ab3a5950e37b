#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/error.hpp"
#include "ksana/http_server/routing/message.hpp"

namespace ksana::http_server {

// What a request did wrong on the level of HTTP, where no Error code fits: the status and a stable
// snake_case name for it.
struct Fault {
    int status = 400;
    std::string_view code = "bad_request";  // a literal
    std::string detail;
};

// The request that a problem is about.
struct ProblemPlace {
    std::string_view instance;  // its path
    std::string_view request_id;
};

// Answers of type application/problem+json (RFC 9457). Status and name come from Info(error.code);
// every problem of the error becomes an entry of "errors". A 401 names the scheme to use.
Response ProblemOf(const Error& error, const ProblemPlace& place);
Response ProblemOf(const Error& error, const Request& request);
Response ProblemOf(const Fault& fault, const ProblemPlace& place);

// The value of a Link header (RFC 8288) that leads to the next page of a list: the same request
// with this cursor.
std::string NextLink(const Request& request, std::string_view cursor);

}  // namespace ksana::http_server

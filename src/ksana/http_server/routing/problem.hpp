#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/error.hpp"
#include "ksana/http_server/routing/message.hpp"

namespace ksana::http_server {

// A fault of a request at the level of HTTP, where no Error code fits.
struct Fault {
    int status = 400;
    std::string_view code = "bad_request";  // stable snake_case name; a string literal
    std::string detail;
};

// The request that a problem is about.
struct ProblemPlace {
    std::string_view instance;  // its path
    std::string_view request_id;
};

// Returns whether an answer of this status has a Retry-After.
constexpr bool AsksToRetry(int status) { return status == 429 || status == 503 || status == 507; }

// Makes an answer of type application/problem+json (RFC 9457). For an Error, status and code come
// from Info(error.code), and each of its problems becomes an entry of "errors". A 401 gets
// "WWW-Authenticate: Bearer".
Response ProblemOf(const Error& error, const ProblemPlace& place);
Response ProblemOf(const Error& error, const Request& request);
Response ProblemOf(const Fault& fault, const ProblemPlace& place);

// Returns the value of a Link header (RFC 8288) to the next page of a list: the same request with
// `cursor`.
std::string NextLink(const Request& request, std::string_view cursor);

}  // namespace ksana::http_server

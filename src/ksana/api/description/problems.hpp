#pragma once

#include <span>
#include <string>
#include <vector>

#include "ksana/api/edge/route_info.hpp"

namespace ksana::api {

// A problem that routes may answer with. The description lists it once, as a shared response.
struct ProblemInfo {
    int status;  // 0: any other status
    const char* name;
    const char* means;
    const char* code;
    const char* title;
    const char* detail;  // example
    bool retry_after = false;
};

std::span<const ProblemInfo> AllProblems();

// Returns the problems of a route, derived from its method, path, permission and flags. The last
// one covers every other status.
std::vector<const ProblemInfo*> ProblemsOf(const RouteInfo& route);

// Returns the response of a problem as JSON, with an example.
std::string ProblemResponse(const ProblemInfo& problem);

// application/problem+json (RFC 9457).
extern const codec::NamedSchema kProblemSchema;

}  // namespace ksana::api

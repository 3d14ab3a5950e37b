#pragma once

#include <span>
#include <string>
#include <vector>

#include "ksana/api/edge/route_info.hpp"

namespace ksana::api {

// A problem that routes may answer with: a response that the description names once.
struct ProblemInfo {
    int status;  // 0: every other one
    const char* name;
    const char* means;
    const char* code;
    const char* title;
    const char* detail;  // of the example
    bool retry_after = false;
};

std::span<const ProblemInfo> AllProblems();

// Those of a route, by its method, path, permission and flags; the last one stands for the rest.
std::vector<const ProblemInfo*> ProblemsOf(const RouteInfo& route);

// An answer in full, with an example.
std::string ProblemResponse(const ProblemInfo& problem);

// application/problem+json (RFC 9457).
extern const codec::NamedSchema kProblemSchema;

}  // namespace ksana::api

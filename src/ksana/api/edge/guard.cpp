#include "ksana/api/edge/guard.hpp"

#include <string_view>

#include "ksana/model/run/trace_context.hpp"

namespace ksana::api {
namespace {

using http_server::Caller;
using http_server::Permission;
using http_server::Request;

constexpr std::string_view kBearer = "Bearer ";

// Takes equally long wherever the texts differ, so that the time reveals nothing about the token.
bool SameSecret(std::string_view given, std::string_view wanted) {
    unsigned different = given.size() == wanted.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char other = wanted.empty() ? '\0' : wanted[i % wanted.size()];
        different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
    }
    return different == 0;
}

// Compares "http://localhost:7100" with "localhost:7100".
bool IsSameOrigin(std::string_view origin, std::string_view host) {
    const std::size_t scheme = origin.find("://");
    return scheme != std::string_view::npos &&
           http_server::SameIgnoringCase(origin.substr(scheme + 3), host);
}

}  // namespace

std::string TraceParentOf(const Request& request) {
    const auto header = request.headers.Find("traceparent");
    if (!header) return {};
    const auto parsed = model::ParseTraceParent(*header);
    return parsed ? model::FormatTraceParent(*parsed) : std::string();
}

Result<Caller> Guard::Check(const Request& request, Permission permission) const {
    // A POST that changes nothing may still cost much, and a page of another origin can send it
    // without being allowed to read the answer.
    const bool safe = request.method == HttpMethod::kGet || request.method == HttpMethod::kHead ||
                      request.method == HttpMethod::kOptions;
    if (permission != Permission::kRead || !safe) {
        const auto origin = request.headers.Find("Origin");
        if (origin && !IsSameOrigin(*origin, request.headers.Find("Host").value_or(""))) {
            return Error(Code::kPermissionDenied, "requests of other origins change nothing here");
        }
    }
    if (!token_) return Caller{.name = "anyone"};
    const auto given = request.headers.Find("Authorization");
    if (!given) return Error(Code::kUnauthenticated, "a token is needed");
    if (given->size() < kBearer.size() ||
        !http_server::SameIgnoringCase(given->substr(0, kBearer.size()), kBearer) ||
        !SameSecret(given->substr(kBearer.size()), *token_)) {
        return Error(Code::kUnauthenticated, "the token is not the right one");
    }
    return Caller{.name = "token"};
}

}  // namespace ksana::api

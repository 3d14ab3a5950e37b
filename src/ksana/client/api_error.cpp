#include "ksana/client/api_error.hpp"

#include <fmt/core.h>

#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::client {
namespace {

using codec::Json;
using http_client::CallAnswer;
using http_client::CallError;

// Used if the problem's `code` is unknown, as for errors of HTTP itself.
Code CodeOfStatus(int status) {
    switch (status) {
        case 401:
            return Code::kUnauthenticated;
        case 403:
            return Code::kPermissionDenied;
        case 404:
        case 410:
            return Code::kNotFound;
        case 409:
        case 412:  // another writer was faster
        case 428:
            return Code::kConflict;
        case 408:
        case 504:
            return Code::kDeadlineExceeded;
        case 429:
            return Code::kExhausted;
        case 507:
            return Code::kStorageFull;
        case 501:
            return Code::kUnimplemented;
        case 502:
        case 503:
            return Code::kUnavailable;
        default:
            return status >= 400 && status < 500 ? Code::kInvalidArgument : Code::kInternal;
    }
}

Code CodeOf(int status, const std::string& name) {
    for (std::size_t i = 0; i < kCodeCount; ++i) {
        const CodeInfo& info = Info(static_cast<Code>(i));
        if (info.name == name) return info.code;
    }
    return CodeOfStatus(status);
}

// Makes text from the network safe for a terminal: one line of limited length.
std::string Shown(const std::string& text) {
    constexpr std::size_t kMost = 2000;
    return Excerpt(Printable(text), kMost);
}

}  // namespace

Error ErrorOfAnswer(int status, std::string_view body) {
    const auto parsed = Json::Parse(body);
    if (!parsed || !parsed->IsObject() || !parsed->Has("/type")) {
        constexpr std::size_t kExcerpt = 200;
        return {CodeOfStatus(status),
                fmt::format("the server answered {}{}{}", status, body.empty() ? "" : ": ",
                            Excerpt(Printable(body), kExcerpt))};
    }
    std::string detail = parsed->TextAt("/detail");
    if (detail.empty()) detail = parsed->TextAt("/title");
    Error error(CodeOf(status, parsed->TextAt("/code")), Shown(detail));
    error.message += fmt::format(" ({}", Shown(parsed->TextAt("/type")));
    const std::string request = parsed->TextAt("/request_id");
    error.message += request.empty() ? ")" : fmt::format(", request {})", Shown(request));
    for (const Json& fault : parsed->At("/errors").Items()) {
        Problem problem;
        problem.path = Shown(fault.TextAt("/pointer"));
        problem.message = Shown(fault.TextAt("/detail"));
        for (const Json& one : fault.At("/allowed").Items()) {
            problem.allowed.push_back(Shown(one.Text()));
        }
        error.problems.push_back(std::move(problem));
    }
    return error;
}

Error ErrorOfCall(const CallAnswer& answer, std::string_view server) {
    const bool late = answer.error == CallError::kTimeout;
    return {late ? Code::kDeadlineExceeded : Code::kUnavailable,
            fmt::format("{} {}: {}", late ? "no answer from" : "cannot reach", server,
                        Shown(answer.error_text))};
}

}  // namespace ksana::client

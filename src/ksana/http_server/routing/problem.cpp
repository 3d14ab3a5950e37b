#include "ksana/http_server/routing/problem.hpp"

#include <span>

#include <fmt/core.h>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/json_output.hpp"

namespace ksana::http_server {
namespace {

// "not_found" -> "Not found": the title describes the type, so it is derived from the code.
std::string TitleOf(std::string_view code) {
    std::string title(code);
    for (char& c : title) {
        if (c == '_') c = ' ';
    }
    if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') {
        title[0] = static_cast<char>(title[0] - ('a' - 'A'));
    }
    return title;
}

struct Content {
    int status;
    std::string_view code;
    std::string_view detail;
    std::span<const Problem> problems;
};

void WriteMember(JsonOutput& out, std::string_view name, std::string_view value) {
    out.Key(name);
    out.PrintableText(value);
}

void WriteProblem(JsonOutput& out, const Problem& problem) {
    out.BeginObject();
    WriteMember(out, "pointer", problem.path);
    WriteMember(out, "code", problem.code);
    WriteMember(out, "detail", problem.message);
    if (!problem.allowed.empty()) {
        out.Key("allowed");
        out.BeginArray();
        for (const std::string& name : problem.allowed) out.PrintableText(name);
        out.EndArray();
    }
    out.EndObject();
}

Response Write(const Content& content, const ProblemPlace& place) {
    JsonOutput out;
    out.BeginObject();
    WriteMember(out, "type", fmt::format("urn:ksana:problem:{}", content.code));
    WriteMember(out, "title", TitleOf(content.code));
    out.Key("status");
    out.Int(content.status);
    WriteMember(out, "detail", content.detail);
    WriteMember(out, "instance", place.instance);
    WriteMember(out, "code", content.code);
    WriteMember(out, "request_id", place.request_id);
    if (!content.problems.empty()) {
        out.Key("errors");
        out.BeginArray();
        for (const Problem& problem : content.problems) WriteProblem(out, problem);
        out.EndArray();
    }
    out.EndObject();
    Response response;
    response.status = content.status;
    response.content_type = "application/problem+json";
    response.body = out.Take();
    if (content.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
}

}  // namespace

Response ProblemOf(const Error& error, const ProblemPlace& place) {
    const CodeInfo& info = Info(error.code);
    return Write({info.http_status, info.name, error.message, error.problems}, place);
}

Response ProblemOf(const Error& error, const Request& request) {
    return ProblemOf(error, {.instance = request.path, .request_id = request.request_id});
}

Response ProblemOf(const Fault& fault, const ProblemPlace& place) {
    return Write({fault.status, fault.code, fault.detail, {}}, place);
}

std::string NextLink(const Request& request, std::string_view cursor) {
    std::string link = fmt::format("<{}?cursor={}", request.path, PercentEncode(cursor));
    for (const auto& [name, value] : request.query) {
        if (name == "cursor") continue;
        link += fmt::format("&{}={}", PercentEncode(name), PercentEncode(value));
    }
    return link + ">; rel=\"next\"";
}

}  // namespace ksana::http_server

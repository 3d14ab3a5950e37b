#include "ksana/http_server/routing/problem.hpp"

#include <iterator>
#include <span>

#include <fmt/core.h>
#include <fmt/format.h>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::http_server {
namespace {

void AppendEscaped(std::string& out, char c) {
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            break;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
        out += c;
    }
}

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

void AppendMember(std::string& out, std::string_view name, std::string_view value) {
    out += ',';
    AppendJsonString(out, name);
    out += ':';
    AppendJsonString(out, value);
}

void AppendAllowed(std::string& out, std::span<const std::string> allowed) {
    out += ",\"allowed\":[";
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        if (i > 0) out += ',';
        AppendJsonString(out, allowed[i]);
    }
    out += ']';
}

void AppendErrors(std::string& out, std::span<const Problem> problems) {
    out += ",\"errors\":[";
    for (std::size_t i = 0; i < problems.size(); ++i) {
        out += i == 0 ? "{\"pointer\":" : ",{\"pointer\":";
        AppendJsonString(out, problems[i].path);
        AppendMember(out, "code", problems[i].code);
        AppendMember(out, "detail", problems[i].message);
        if (!problems[i].allowed.empty()) AppendAllowed(out, problems[i].allowed);
        out += '}';
    }
    out += ']';
}

Response Write(const Content& content, const ProblemPlace& place) {
    Response response;
    response.status = content.status;
    response.content_type = "application/problem+json";
    std::string& out = response.body;
    out = "{\"type\":";
    AppendJsonString(out, fmt::format("urn:ksana:problem:{}", content.code));
    AppendMember(out, "title", TitleOf(content.code));
    fmt::format_to(std::back_inserter(out), ",\"status\":{}", content.status);
    AppendMember(out, "detail", content.detail);
    AppendMember(out, "instance", place.instance);
    AppendMember(out, "code", content.code);
    AppendMember(out, "request_id", place.request_id);
    if (!content.problems.empty()) AppendErrors(out, content.problems);
    out += '}';
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

void AppendJsonString(std::string& out, std::string_view text) {
    std::string safe;
    if (!IsUtf8(text)) {
        safe = Printable(text);
        text = safe;
    }
    out += '"';
    for (const char c : text) AppendEscaped(out, c);
    out += '"';
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

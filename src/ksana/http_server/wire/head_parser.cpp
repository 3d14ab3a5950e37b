#include "ksana/http_server/wire/head_parser.hpp"

#include <fmt/core.h>

#include <charconv>

#include "ksana/http_server/wire/http_text.hpp"

namespace ksana::http_server {
namespace {

// Digits only: no sign, no blank, no list.
std::optional<std::uint64_t> ParseLength(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.end();
    const auto [stop, error] = std::from_chars(text.begin(), end, value);
    if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
    return value;
}

}  // namespace

void HeadParser::Reset() {
    head_ = Head();
    fault_ = Fault();
    line_begin_ = 0;
    scanned_ = 0;
    have_request_line_ = false;
    skipped_empty_line_ = false;
}

ParseStatus HeadParser::Fail(int status, std::string_view code, std::string detail) {
    fault_ = {.status = status, .code = code, .detail = std::move(detail)};
    return ParseStatus::kFault;
}

ParseStatus HeadParser::TooLarge() {
    if (!have_request_line_) {
        return Fail(414, "target_too_long",
                    fmt::format("the request line is longer than {} bytes", limits_.bytes));
    }
    return Fail(431, "header_too_large",
                fmt::format("the header is larger than {} bytes", limits_.bytes));
}

ParseStatus HeadParser::Feed(std::string_view data) {
    while (true) {
        const std::size_t end = data.find('\n', scanned_);
        const std::size_t reached = end == std::string_view::npos ? data.size() : end + 1;
        if (reached > limits_.bytes) return TooLarge();
        scanned_ = reached;
        if (end == std::string_view::npos) {
            return data.size() == limits_.bytes ? TooLarge() : ParseStatus::kNeedMore;
        }
        if (end == line_begin_ || data[end - 1] != '\r') return Bad("a line ends without CR LF");
        const std::string_view line = data.substr(line_begin_, end - 1 - line_begin_);
        line_begin_ = end + 1;
        const ParseStatus status = TakeLine(line);
        if (status != ParseStatus::kNeedMore) return status;
    }
}

ParseStatus HeadParser::TakeLine(std::string_view line) {
    if (have_request_line_) return line.empty() ? Finish() : TakeField(line);
    if (line.empty() && !skipped_empty_line_) {
        // Some clients send an empty line after a body; one is accepted (RFC 9112, 2.2).
        skipped_empty_line_ = true;
        return ParseStatus::kNeedMore;
    }
    return TakeRequestLine(line);
}

ParseStatus HeadParser::TakeRequestLine(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) {
        return Bad("the request line is not METHOD TARGET HTTP/1.1");
    }
    const std::string_view method = line.substr(0, first);
    if (!IsToken(method)) return Bad("the method is malformed");
    const ParseStatus version = TakeVersion(line.substr(last + 1));
    if (version != ParseStatus::kNeedMore) return version;
    const auto known = ParseHttpMethod(method);
    if (!known) return Fail(501, "method_unknown", "the method is unknown here");
    head_.method = *known;
    if (auto fault = ParseTarget(line.substr(first + 1, last - first - 1), head_.target)) {
        fault_ = std::move(*fault);
        return ParseStatus::kFault;
    }
    if (head_.target.asterisk && head_.method != HttpMethod::kOptions) {
        return Bad("the target * is for OPTIONS only");
    }
    have_request_line_ = true;
    return ParseStatus::kNeedMore;
}

ParseStatus HeadParser::TakeVersion(std::string_view text) {
    if (text == "HTTP/1.1" || text == "HTTP/1.0") {
        head_.minor_version = text.back() - '0';
        return ParseStatus::kNeedMore;
    }
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (text.size() == 8 && text.starts_with("HTTP/") && digit(text[5]) && text[6] == '.' &&
        digit(text[7])) {
        return Fail(505, "version_not_supported", "this server speaks HTTP/1.1 and HTTP/1.0");
    }
    return Bad("the request line does not end with a version of HTTP");
}

ParseStatus HeadParser::TakeField(std::string_view line) {
    if (line.front() == ' ' || line.front() == '\t') return Bad("a header field is folded");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Bad("a header field has no colon");
    const std::string_view name = line.substr(0, colon);
    if (!IsToken(name)) return Bad("the name of a header field is malformed");
    const std::string_view value = TrimBlanks(line.substr(colon + 1));
    if (!IsFieldValue(value)) return Bad("a header field holds control characters");
    if (head_.headers.size() == limits_.fields) {
        return Fail(431, "header_too_large",
                    fmt::format("the header has more than {} fields", limits_.fields));
    }
    head_.headers.Add(name, value);
    return ParseStatus::kNeedMore;
}

ParseStatus HeadParser::Finish() {
    for (const auto check :
         {&HeadParser::CheckHost, &HeadParser::CheckFraming, &HeadParser::CheckConnection}) {
        const ParseStatus status = (this->*check)();
        if (status != ParseStatus::kNeedMore) return status;
    }
    return ParseStatus::kComplete;
}

ParseStatus HeadParser::CheckHost() {
    const std::size_t hosts = head_.headers.Count("Host");
    if (hosts > 1) return Bad("there is more than one Host");
    if (hosts == 0) {
        return head_.minor_version == 0 ? ParseStatus::kNeedMore : Bad("there is no Host");
    }
    const std::string_view host = *head_.headers.Find("Host");
    if (!IsHost(host)) return Bad("the Host is malformed");
    const std::string& authority = head_.target.authority;
    if (!authority.empty() && !SameIgnoringCase(authority, host)) {
        return Bad("the target names another host than Host does");
    }
    return ParseStatus::kNeedMore;
}

ParseStatus HeadParser::CheckFraming() {
    const std::size_t lengths = head_.headers.Count("Content-Length");
    const std::size_t codings = head_.headers.Count("Transfer-Encoding");
    if (lengths + codings == 0) return ParseStatus::kNeedMore;
    if (lengths + codings > 1) return Bad("the length of the body is told more than once");
    if (codings == 1) {
        if (head_.minor_version == 0) return Bad("HTTP/1.0 has no Transfer-Encoding");
        if (!SameIgnoringCase(*head_.headers.Find("Transfer-Encoding"), "chunked")) {
            return Bad("the only Transfer-Encoding known here is chunked");
        }
        head_.chunked = true;
        return ParseStatus::kNeedMore;
    }
    head_.content_length = ParseLength(*head_.headers.Find("Content-Length"));
    return head_.content_length ? ParseStatus::kNeedMore : Bad("the Content-Length is no number");
}

ParseStatus HeadParser::CheckConnection() {
    bool close = false;
    bool keep = false;
    for (std::size_t i = 0; i < head_.headers.size(); ++i) {
        const Headers::Field field = head_.headers.at(i);
        if (!SameIgnoringCase(field.name, "Connection")) continue;
        std::string_view rest = field.value;
        while (!rest.empty()) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            const std::string_view option = TrimBlanks(rest.substr(0, comma));
            close = close || SameIgnoringCase(option, "close");
            keep = keep || SameIgnoringCase(option, "keep-alive");
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    head_.keep_alive = !close && (keep || head_.minor_version == 1);
    const auto expect = head_.headers.Find("Expect");
    if (!expect || head_.minor_version == 0) return ParseStatus::kNeedMore;
    if (!SameIgnoringCase(*expect, "100-continue")) {
        return Fail(417, "expectation_failed", "the only expectation known here is 100-continue");
    }
    head_.expects_continue = true;
    return ParseStatus::kNeedMore;
}

}  // namespace ksana::http_server

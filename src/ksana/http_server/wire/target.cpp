#include "ksana/http_server/wire/target.hpp"

#include <algorithm>

#include "ksana/base/text/utf8.hpp"

namespace ksana::http_server {
namespace {

bool IsAlnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Characters that a path may hold unencoded (RFC 3986, pchar), and "%".
bool IsPathChar(char c) {
    return IsAlnum(c) || std::string_view("-._~!$&'()*+,;=:@%").find(c) != std::string_view::npos;
}

int HexValue(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Appends the decoded text to `out`. Returns false for broken encoding, NUL or invalid UTF-8.
bool Decode(std::string_view text, bool plus_is_blank, std::string& out) {
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (i + 2 >= text.size()) return false;
            const int high = HexValue(text[i + 1]);
            const int low = HexValue(text[i + 2]);
            if (high < 0 || low < 0) return false;
            c = static_cast<char>(high * 16 + low);
            i += 2;
            if (c == '\0') return false;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        out += c;
    }
    return IsUtf8(out);
}

Fault Bad(std::string detail) { return {.status = 400, .detail = std::move(detail)}; }

std::optional<Fault> TakeSegment(std::string_view raw, bool last, Target& target) {
    std::string segment;
    if (!std::all_of(raw.begin(), raw.end(), IsPathChar)) {
        return Bad("the path holds characters that must be percent-encoded");
    }
    if (!Decode(raw, false, segment)) return Bad("the path is not percent-encoded UTF-8");
    if (std::any_of(segment.begin(), segment.end(), IsControl)) {
        return Bad("the path holds control characters");
    }
    if (segment.find('/') != std::string::npos) return Bad("the path holds an encoded slash");
    if (segment.empty() && !last) return Bad("the path has an empty segment");
    if (segment == "." || segment == "..") return Bad("the path has a dot segment");
    target.segments.push_back(std::move(segment));
    return std::nullopt;
}

std::optional<Fault> TakePath(std::string_view path, Target& target) {
    target.path = path;
    path.remove_prefix(1);
    if (path.empty()) return std::nullopt;  // the root has no segments
    while (true) {
        const std::size_t slash = path.find('/');
        const bool last = slash == std::string_view::npos;
        if (auto fault = TakeSegment(path.substr(0, slash), last, target)) return fault;
        if (last) return std::nullopt;
        path.remove_prefix(slash + 1);
    }
}

std::optional<Fault> TakeQuery(std::string_view query, Target& target) {
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
        auto& [name, decoded] = target.query.emplace_back();
        if (!Decode(pair.substr(0, equals), true, name) || !Decode(value, true, decoded)) {
            return Bad("the query is not percent-encoded UTF-8");
        }
    }
    return std::nullopt;
}

// "http://host:port/path" -> "/path"; the authority goes to `target`.
std::optional<Fault> TakeAuthority(std::string_view& text, Target& target) {
    const std::size_t colon = text.find("://");
    const std::string_view scheme = text.substr(0, std::min(colon, text.size()));
    if (colon == std::string_view::npos ||
        (!SameIgnoringCase(scheme, "http") && !SameIgnoringCase(scheme, "https"))) {
        return Bad("the target is neither a path nor an http URL");
    }
    text.remove_prefix(colon + 3);
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    target.authority = text.substr(0, end);
    if (!IsHost(target.authority)) return Bad("the host of the target is malformed");
    text.remove_prefix(end);
    return std::nullopt;
}

}  // namespace

bool IsHost(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return IsAlnum(c) || std::string_view("-._~:[]%").find(c) != std::string_view::npos;
    });
}

std::optional<Fault> ParseTarget(std::string_view text, Target& target) {
    if (text == "*") {
        target.path = text;
        target.asterisk = true;
        return std::nullopt;
    }
    const bool visible =
        std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (text.empty() || !visible || text.find('#') != std::string_view::npos) {
        return Bad("the target holds characters that must be percent-encoded");
    }
    if (text.front() != '/') {
        if (auto fault = TakeAuthority(text, target)) return fault;
    }
    const std::size_t question = std::min(text.find('?'), text.size());
    const std::string_view path = text.substr(0, question);
    if (auto fault = TakePath(path.empty() ? "/" : path, target)) return fault;
    return TakeQuery(text.substr(std::min(question + 1, text.size())), target);
}

}  // namespace ksana::http_server

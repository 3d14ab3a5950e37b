#include "ksana/http_client/plain_request.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "ksana/http_client/answer_intake.hpp"

namespace ksana::http_client {
namespace {

// A longer body is not copied behind the head but sent from where it is.
constexpr std::size_t kMostInside = 16 << 10;

using Characters = std::array<bool, 256>;

constexpr Characters TableOf(std::string_view others, bool upper) {
    Characters table{};
    for (const char c : others) table[static_cast<unsigned char>(c)] = true;
    for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
    for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
    for (char c = 'A'; c <= 'Z' && upper; ++c) table[static_cast<unsigned char>(c)] = true;
    return table;
}

constexpr Characters kInTarget = TableOf("-._~!$&'()*+,;=:@/?%", true);
constexpr Characters kInName = TableOf("-._", false);

bool All(std::string_view text, const Characters& table) {
    return std::ranges::all_of(text,
                               [&table](char c) { return table[static_cast<unsigned char>(c)]; });
}

// libcurl takes dots out of paths, and the mark of a query that is empty.
bool IsPlainTarget(std::string_view target) {
    return target.starts_with('/') && All(target, kInTarget) && !target.ends_with('?') &&
           target.find("/.") == std::string_view::npos &&
           target.find("%2e") == std::string_view::npos &&
           target.find("%2E") == std::string_view::npos;
}

// Where the last part begins with a digit, libcurl may read the name as a number.
bool IsPlainName(std::string_view host) {
    const std::size_t dot = host.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? host : host.substr(dot + 1);
    return !last.empty() && last.front() >= 'a' && last.front() <= 'z' && All(host, kInName) &&
           host.size() <= 253;
}

struct Authority {
    std::string_view host;  // as the URL has it, brackets included
    int port = 80;
    std::optional<IpAddress> address;
};

bool ReadHost(Authority& authority) {
    std::string_view text = authority.host;
    const bool bracketed = text.starts_with('[') && text.ends_with(']');
    if (bracketed) text = text.substr(1, text.size() - 2);
    const bool may_be_address = bracketed || (!text.empty() && text.front() <= '9');
    if (may_be_address) authority.address = ParseIpAddress(text);
    if (!authority.address) return !bracketed && IsPlainName(text);
    // libcurl writes an address in its shortest form.
    return authority.address->is_v4 != bracketed && authority.address->ToString() == text;
}

bool ReadPort(std::string_view text, int& port) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    return error == std::errc() && stop == end && port > 0 && port <= 65535 && text.front() != '0';
}

std::optional<Authority> AuthorityOf(std::string_view text) {
    Authority authority;
    const std::size_t colon = text.rfind(':');
    const bool has_port = colon != std::string_view::npos && !text.ends_with(']');
    if (has_port && !ReadPort(text.substr(colon + 1), authority.port)) return std::nullopt;
    authority.host = has_port ? text.substr(0, colon) : text;
    if (!ReadHost(authority)) return std::nullopt;
    return authority;
}

bool TakesBody(const CallRequest& request) {
    if (request.method == Method::kHead) return false;
    return request.method == Method::kPost || request.method == Method::kPut ||
           request.method == Method::kPatch || !request.body.empty();
}

void WriteHeaders(const CallRequest& request, std::string& bytes) {
    if (FindHeader(request.headers, "accept") == nullptr) bytes += "Accept: */*\r\n";
    for (const Header& header : request.headers) {
        bytes += header.name;
        bytes += ':';
        if (!Trimmed(header.value).empty()) {
            bytes += ' ';
            bytes += header.value;
        }
        bytes += "\r\n";
    }
}

std::size_t SizeOf(const CallRequest& request) {
    std::size_t size = request.url.size() + 128;
    for (const Header& header : request.headers) {
        size += header.name.size() + header.value.size() + 4;
    }
    return size + (request.body.size() <= kMostInside ? request.body.size() : 0);
}

PlainRequest Write(const CallRequest& request, const Authority& authority,
                   std::string_view target) {
    PlainRequest plain;
    std::string& bytes = plain.bytes;
    bytes.reserve(SizeOf(request));
    bytes += NameOf(request.method);
    bytes += ' ';
    bytes += target;
    bytes += " HTTP/1.1\r\nHost: ";
    plain.host_at = bytes.size();
    bytes += authority.host;
    if (authority.port != 80) {
        bytes += ':';
        bytes += std::to_string(authority.port);
    }
    plain.host_size = bytes.size() - plain.host_at;
    bytes += "\r\n";
    WriteHeaders(request, bytes);
    if (TakesBody(request)) {
        bytes += "Content-Length: ";
        bytes += std::to_string(request.body.size());
        bytes += "\r\n";
    }
    bytes += "\r\n";
    plain.body_inside = !TakesBody(request) || request.body.size() <= kMostInside;
    if (TakesBody(request) && plain.body_inside) bytes += request.body;
    plain.port = authority.port;
    plain.address = authority.address;
    return plain;
}

}  // namespace

std::optional<PlainRequest> PlainRequestOf(const CallRequest& request) {
    constexpr std::string_view kScheme = "http://";
    std::string_view url = request.url;
    if (request.max_redirects > 0 || !url.starts_with(kScheme)) return std::nullopt;
    url.remove_prefix(kScheme.size());
    const std::size_t slash = url.find_first_of("/?#");
    const std::string_view target = slash == std::string_view::npos ? "/" : url.substr(slash);
    if (!IsPlainTarget(target)) return std::nullopt;
    const auto authority = AuthorityOf(url.substr(0, slash));
    if (!authority) return std::nullopt;
    return Write(request, *authority, target);
}

}  // namespace ksana::http_client

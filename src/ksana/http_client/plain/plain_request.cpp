#include "ksana/http_client/plain/plain_request.hpp"

#include <charconv>

#include "ksana/http_client/answer_collector.hpp"
#include "ksana/http_client/plain/char_set.hpp"

namespace ksana::http_client {
namespace {

// A body longer than this is not copied behind the head; it is sent from the request.
constexpr std::size_t kMostInside = 16 << 10;

constexpr CharSet kOfNames = CharSet().With('0', '9').With('a', 'z').With("-._");
constexpr CharSet kOfTargets = kOfNames.With('A', 'Z').With("~!$&'()*+,;=:@/?%");

// Returns whether libcurl would send the target unchanged. It removes dot segments from paths, and
// the "?" of an empty query.
bool IsPlainTarget(std::string_view target) {
    return target.starts_with('/') && kOfTargets.HasAll(target) && !target.ends_with('?') &&
           target.find("/.") == std::string_view::npos &&
           target.find("%2e") == std::string_view::npos &&
           target.find("%2E") == std::string_view::npos;
}

// The last label must begin with a letter: libcurl may read "1.2" or "0x7f" as an address.
bool IsPlainName(std::string_view host) {
    const std::size_t dot = host.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? host : host.substr(dot + 1);
    return !last.empty() && last.front() >= 'a' && last.front() <= 'z' && kOfNames.HasAll(host) &&
           host.size() <= 253;
}

struct Authority {
    std::string_view host;  // as in the URL, including brackets
    int port = 80;
    std::optional<IpAddress> address;
};

// Parses "127.0.0.1" and no other spelling. Written by hand for speed: every call passes here.
std::optional<IpAddress> ReadV4(std::string_view text) {
    IpAddress address;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t i = 0; i < 4; ++i) {
        if (i > 0 && (at == end || *at++ != '.')) return std::nullopt;
        const auto [stop, error] = std::from_chars(at, end, address.bytes[i]);
        if (error != std::errc() || (*at == '0' && stop - at > 1)) return std::nullopt;
        at = stop;
    }
    if (at != end) return std::nullopt;
    return address;
}

// Accepts only the shortest form, to which libcurl would normalize the address.
std::optional<IpAddress> ReadV6(std::string_view text) {
    auto address = ParseIpAddress(text);
    const bool same = address && !address->is_v4 && address->ToString() == text;
    return same ? address : std::nullopt;
}

bool ReadHost(Authority& authority) {
    const std::string_view text = authority.host;
    if (text.starts_with('[') && text.ends_with(']')) {
        authority.address = ReadV6(text.substr(1, text.size() - 2));
        return authority.address.has_value();
    }
    authority.address = ReadV4(text);
    return authority.address || IsPlainName(text);
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
    if (request.method == HttpMethod::kHead) return false;
    return request.method == HttpMethod::kPost || request.method == HttpMethod::kPut ||
           request.method == HttpMethod::kPatch || !request.body.empty();
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

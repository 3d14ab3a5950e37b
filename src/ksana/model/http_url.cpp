#include "ksana/model/http_url.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ksana/base/text/names.hpp"

namespace ksana::model {
namespace {

constexpr std::size_t kMaxUrlLength = 8192;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), text.begin(),
                                                      [](char a, char b) { return a == Lower(b); });
}

std::optional<std::string> FaultOfPort(std::string_view port) {
    if (port.empty() || port.size() > 5 || !std::all_of(port.begin(), port.end(), IsDigit)) {
        return "the port is not a number from 1 to 65535";
    }
    int value = 0;
    for (const char c : port) value = value * 10 + (c - '0');
    if (value < 1 || value > 65'535) return "the port is not a number from 1 to 65535";
    return std::nullopt;
}

std::optional<std::string> FaultOfHost(std::string_view host) {
    if (host.empty()) return "the host is missing";
    if (host.front() == '[') {
        const std::string_view inside = host.substr(1, host.size() - 2);
        const bool ok =
            host.back() == ']' && inside.find(':') != std::string_view::npos &&
            inside.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
        if (!ok) return "the address in brackets is malformed";
        return std::nullopt;
    }
    const auto allowed = [](char c) {
        return IsAlphanumeric(c) || c == '-' || c == '.' || c == '_';
    };
    if (host.size() > 253 || !std::all_of(host.begin(), host.end(), allowed) ||
        host.find("..") != std::string_view::npos || host.front() == '.' || host.front() == '-') {
        return "the host name is malformed";
    }
    return std::nullopt;
}

// Splits "example.com:8080" into host and port; the port is nullopt if there is none.
std::pair<std::string_view, std::optional<std::string_view>> Split(std::string_view authority) {
    const std::size_t bracket = authority.rfind(']');
    const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon == std::string_view::npos) return {authority, std::nullopt};
    return {authority.substr(0, colon), authority.substr(colon + 1)};
}

std::optional<std::string> FaultOfAuthority(std::string_view authority) {
    const auto [host, port] = Split(authority);
    if (port) {
        if (auto fault = FaultOfPort(*port)) return fault;
    }
    return FaultOfHost(host);
}

// Returns the length of "http://" or "https://", or 0 if the URL starts with neither.
std::size_t SchemeSize(std::string_view url) {
    if (StartsWithIgnoringCase(url, "http://")) return 7;
    return StartsWithIgnoringCase(url, "https://") ? 8 : 0;
}

}  // namespace

std::optional<std::string> CheckHttpUrl(std::string_view url) {
    if (url.empty()) return "is missing";
    if (url.size() > kMaxUrlLength) return "is longer than 8192 characters";
    const auto hostile = [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F || c == '\\';
    };
    if (std::any_of(url.begin(), url.end(), hostile)) {
        return "holds a blank, a control character or a backslash";
    }
    const std::size_t scheme = SchemeSize(url);
    if (scheme == 0) return "does not start with http:// or https://";
    url.remove_prefix(scheme);
    const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
    if (authority.find('@') != std::string_view::npos) {
        return "holds credentials; use a header or a secret";
    }
    return FaultOfAuthority(authority);
}

std::string HostAndPortOf(std::string_view url) {
    const std::size_t scheme = SchemeSize(url);
    if (scheme == 0) return {};
    url.remove_prefix(scheme);
    const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
    if (FaultOfAuthority(authority)) return {};
    const auto [host, port] = Split(authority);
    std::string text(host);
    std::transform(text.begin(), text.end(), text.begin(), Lower);
    text += ':';
    text += port.value_or(scheme == 7 ? "80" : "443");
    return text;
}

bool IsHost(std::string_view text) { return !FaultOfAuthority(text); }

bool IsHeaderName(std::string_view name) {
    constexpr std::string_view kOther = "!#$%&'*+-.^_`|~";
    return !name.empty() && name.size() <= 128 &&
           std::all_of(name.begin(), name.end(), [kOther](char c) {
               return IsAlphanumeric(c) || kOther.find(c) != std::string_view::npos;
           });
}

bool IsHeaderValue(std::string_view value) {
    return value.size() <= 8192 && std::all_of(value.begin(), value.end(), [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
           });
}

bool IsReservedHeader(std::string_view name) {
    constexpr std::array<std::string_view, 8> kReserved = {
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade",
        "te",   "trailer"};
    return std::any_of(kReserved.begin(), kReserved.end(), [name](std::string_view reserved) {
        return reserved.size() == name.size() && StartsWithIgnoringCase(name, reserved);
    });
}

}  // namespace ksana::model

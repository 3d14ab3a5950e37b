#include "ksana/server/settings/network_text.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::server {
namespace {

// Returns four or sixteen bytes, or none if the text is not an IP address.
std::vector<std::uint8_t> BytesOf(std::string_view text) {
    const std::string address(text);
    if (address.find('\0') != std::string::npos) return {};
    std::array<std::uint8_t, 16> bytes{};
    if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) {
        return {bytes.begin(), bytes.begin() + 4};
    }
    if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) {
        return {bytes.begin(), bytes.end()};
    }
    return {};
}

bool HasBitsBeyond(const std::vector<std::uint8_t>& bytes, std::size_t prefix) {
    for (std::size_t bit = prefix; bit < bytes.size() * 8; ++bit) {
        if ((bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return true;
    }
    return false;
}

}  // namespace

std::optional<std::string> FaultOfAddress(std::string_view address) {
    if (address == "localhost" || !BytesOf(address).empty()) return std::nullopt;
    return fmt::format("\"{}\" is no IP address and not localhost",
                       Printable(Excerpt(address, 80)));
}

std::optional<std::string> FaultOfHost(std::string_view text) {
    constexpr std::size_t kLongestName = 253;
    const bool name =
        !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [](char c) {
            const char lower = Lower(c);
            return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                   c == '.' || c == '_';
        });
    if (name || !BytesOf(text).empty()) return std::nullopt;
    return fmt::format("\"{}\" is no name of a host and no IP address; write it without port",
                       Printable(Excerpt(text, 80)));
}

bool IsLoopback(std::string_view address) {
    if (address == "localhost") return true;
    const std::vector<std::uint8_t> bytes = BytesOf(address);
    if (bytes.size() == 4) return bytes[0] == 127;
    return !bytes.empty() && bytes == BytesOf("::1");
}

std::optional<std::string> FaultOfCidr(std::string_view text) {
    const std::string shown = Printable(Excerpt(text, 80));
    const std::size_t slash = text.find('/');
    const std::vector<std::uint8_t> bytes = BytesOf(text.substr(0, slash));
    const std::string_view digits =
        slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
    std::size_t prefix = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (bytes.empty() || !whole || prefix > bytes.size() * 8) {
        return fmt::format("\"{}\" is no range of addresses; write 10.0.0.0/8 or fd00::/8", shown);
    }
    if (HasBitsBeyond(bytes, prefix)) {
        return fmt::format("\"{}\" has bits beyond its first {}", shown, prefix);
    }
    return std::nullopt;
}

std::optional<std::string> FaultOfSmtpUrl(std::string_view text) {
    constexpr std::string_view kFault = "must be smtp://HOST:PORT or smtps://HOST:PORT";
    if (text.empty()) return std::nullopt;
    for (const std::string_view scheme : {"smtp://", "smtps://"}) {
        if (!text.starts_with(scheme)) continue;
        const std::string_view host = text.substr(scheme.size());
        if (!host.empty() && host.find_first_of("/?#@ ") == std::string_view::npos) {
            return std::nullopt;
        }
    }
    return std::string(kFault);
}

std::optional<std::string> FaultOfSmtpTls(std::string_view text) {
    if (text == "auto" || text == "never") return std::nullopt;
    return "must be auto or never";
}

}  // namespace ksana::server

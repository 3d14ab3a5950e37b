#include "ksana/http_client/egress.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "ksana/base/text/utf8.hpp"

namespace ksana::http_client {
namespace {

struct Range {
    Cidr cidr;
    std::string_view name;
};

// For the constant tables below, whose texts are valid.
Range MakeRange(std::string_view text, std::string_view name) {
    return {ParseCidr(text).value(), name};
}

const std::vector<Range>& RefusedAlways() {
    static const std::vector<Range> ranges = {
        // The metadata services come first: their name says more than that of the enclosing range.
        MakeRange("169.254.169.254", "a metadata service"),
        MakeRange("100.100.100.200", "a metadata service"),
        MakeRange("192.0.0.192", "a metadata service"),
        MakeRange("168.63.129.16", "a metadata service"),
        MakeRange("fd00:ec2::254", "a metadata service"),
        MakeRange("fd20:ce::254", "a metadata service"),
        MakeRange("0.0.0.0/8", "no host's address"),
        MakeRange("169.254.0.0/16", "link-local"),
        MakeRange("224.0.0.0/4", "multicast"),
        MakeRange("255.255.255.255", "broadcast"),
        MakeRange("::", "no host's address"),
        MakeRange("fe80::/10", "link-local"),
        MakeRange("ff00::/8", "multicast"),
    };
    return ranges;
}

const std::vector<Range>& RefusedByPublicPolicy() {
    static const std::vector<Range> ranges = {
        MakeRange("127.0.0.0/8", "loopback"),
        MakeRange("10.0.0.0/8", "private"),
        MakeRange("172.16.0.0/12", "private"),
        MakeRange("192.168.0.0/16", "private"),
        MakeRange("100.64.0.0/10", "shared"),
        MakeRange("192.0.0.0/24", "reserved"),
        MakeRange("192.0.2.0/24", "for documentation"),
        MakeRange("198.51.100.0/24", "for documentation"),
        MakeRange("203.0.113.0/24", "for documentation"),
        MakeRange("192.88.99.0/24", "reserved"),
        MakeRange("198.18.0.0/15", "for benchmarks"),
        MakeRange("240.0.0.0/4", "reserved"),
        MakeRange("::1", "loopback"),
        MakeRange("fc00::/7", "private"),
        MakeRange("fec0::/10", "private"),
        MakeRange("2001::/23", "reserved"),
        MakeRange("2001:db8::/32", "for documentation"),
        MakeRange("3fff::/20", "for documentation"),
    };
    return ranges;
}

std::optional<std::string_view> NameIn(const std::vector<Range>& ranges, const IpAddress& address) {
    const auto found = std::ranges::find_if(
        ranges, [&address](const Range& range) { return range.cidr.Holds(address); });
    if (found == ranges.end()) return std::nullopt;
    return found->name;
}

// Only 2000::/3 is allocated for public IPv6. A NAT64 address leads to its embedded IPv4 address,
// which RefusalOf has judged.
bool IsGlobalUnicast(const IpAddress& address) {
    static const Cidr global = ParseCidr("2000::/3").value();
    static const Cidr nat64 = ParseCidr("64:ff9b::/96").value();
    return address.is_v4 || global.Holds(address) || nat64.Holds(address);
}

// A form of IPv6 address that embeds an IPv4 address.
struct Carrier {
    Cidr cidr;
    std::size_t offset;     // of the IPv4 address in the bytes
    bool inverted = false;  // every bit is flipped
};

const std::vector<Carrier>& Carriers() {
    static const std::vector<Carrier> carriers = {
        {ParseCidr("::ffff:0:0/96").value(), 12},    // mapped
        {ParseCidr("::/96").value(), 12},            // compatible
        {ParseCidr("::ffff:0:0:0/96").value(), 12},  // translated
        {ParseCidr("64:ff9b::/96").value(), 12},     // NAT64
        {ParseCidr("64:ff9b:1::/48").value(), 12},   // NAT64, local use
        {ParseCidr("2002::/16").value(), 2},         // 6to4
        {ParseCidr("2001::/32").value(), 4},         // Teredo: its server …
        {ParseCidr("2001::/32").value(), 12, true},  // … and its client
    };
    return carriers;
}

IpAddress InnerOf(const IpAddress& address, const Carrier& carrier) {
    IpAddress inner;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::uint8_t byte = address.bytes[carrier.offset + i];
        inner.bytes[i] = carrier.inverted ? static_cast<std::uint8_t>(~byte) : byte;
    }
    return inner;
}

// Returns whether the address looks like the IPv4-compatible form but is not one: :: and ::1.
bool IsSmall(const IpAddress& address) {
    return std::all_of(address.bytes.begin(), address.bytes.end() - 1,
                       [](std::uint8_t byte) { return byte == 0; });
}

bool IsMapped(const IpAddress& address) { return Carriers().front().cidr.Holds(address); }

bool IsAllowed(const IpAddress& address, const EgressRules& rules) {
    return std::ranges::any_of(rules.allow,
                               [&address](const Cidr& cidr) { return cidr.Holds(address); });
}

// Judges the address itself, not an address embedded in it.
std::optional<std::string_view> RefusalOfItself(const IpAddress& address,
                                                const EgressRules& rules) {
    if (auto name = NameIn(RefusedAlways(), address)) return name;
    if (rules.policy == EgressPolicy::kDefault) return std::nullopt;
    if (auto name = NameIn(RefusedByPublicPolicy(), address)) return name;
    if (!IsGlobalUnicast(address)) return "not a public address";
    return std::nullopt;
}

}  // namespace

std::string IpAddress::ToString() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(is_v4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
    return text.data();
}

std::optional<IpAddress> ParseIpAddress(std::string_view text) {
    const std::string terminated(text);
    IpAddress address;
    if (terminated.size() != std::strlen(terminated.c_str())) return std::nullopt;
    if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) return address;
    address.is_v4 = false;
    if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) return address;
    return std::nullopt;
}

bool Cidr::Holds(const IpAddress& address) const {
    if (address.is_v4 != base.is_v4) return false;
    const auto whole = static_cast<std::size_t>(bits / 8);
    if (!std::equal(base.bytes.begin(), base.bytes.begin() + bits / 8, address.bytes.begin())) {
        return false;
    }
    const int rest = bits % 8;
    if (rest == 0) return true;
    const auto mask = static_cast<std::uint8_t>(0xFF00U >> static_cast<unsigned>(rest));
    return ((base.bytes[whole] ^ address.bytes[whole]) & mask) == 0;
}

Result<Cidr> ParseCidr(std::string_view text) {
    const auto fault = [text] {
        return Error(Code::kInvalidArgument,
                     fmt::format("\"{}\" is not a range of addresses such as 10.0.0.0/8",
                                 Excerpt(Printable(text), 80)));
    };
    const std::size_t slash = text.find('/');
    const auto base = ParseIpAddress(text.substr(0, slash));
    if (!base) return fault();
    const int most = base->is_v4 ? 32 : 128;
    if (slash == std::string_view::npos) return Cidr{*base, most};
    const std::string_view digits = text.substr(slash + 1);
    int bits = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (error != std::errc() || end != digits.data() + digits.size()) return fault();
    if (bits < 0 || bits > most) return fault();
    return Cidr{*base, bits};
}

std::optional<std::string_view> RefusalOf(const IpAddress& address, const EgressRules& rules) {
    if (IsAllowed(address, rules)) return std::nullopt;
    if (address.is_v4) return RefusalOfItself(address, rules);
    for (const Carrier& carrier : Carriers()) {
        if (!carrier.cidr.Holds(address) || IsSmall(address)) continue;
        if (auto refusal = RefusalOf(InnerOf(address, carrier), rules)) return refusal;
    }
    if (IsMapped(address)) return std::nullopt;  // means its IPv4 address, which is allowed
    return RefusalOfItself(address, rules);
}

}  // namespace ksana::http_client

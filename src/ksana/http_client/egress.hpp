#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

// The egress guard: which addresses a call may go to. Pure functions that judge binary addresses,
// never names, so that neither a changing DNS answer nor an odd spelling (http://2130706433/,
// http://127.1/) bypasses the rules.

namespace ksana::http_client {

// An IPv4 address uses the first four bytes, an IPv6 address all sixteen.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};
    bool is_v4 = true;

    std::string ToString() const;
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// Parses "192.0.2.1" or "2001:db8::1", without brackets or a zone id.
std::optional<IpAddress> ParseIpAddress(std::string_view text);

// A range of addresses: all that share their first `bits` bits with `base`.
struct Cidr {
    IpAddress base;
    int bits = 0;

    bool Holds(const IpAddress& address) const;
    friend bool operator==(const Cidr&, const Cidr&) = default;
};

// Parses "10.0.0.0/8", "fd00::/8" or a single address. Fails with kInvalidArgument.
Result<Cidr> ParseCidr(std::string_view text);

enum class EgressPolicy : std::uint8_t {
    // Refuses link-local, cloud metadata services, multicast, broadcast and "this network". Allows
    // loopback and private addresses, where a user's own services run.
    kDefault,
    // Also refuses loopback, private, shared (CGNAT), unique local and every other special range.
    // For a server whose jobs are written by untrusted users.
    kPublic,
};

struct EgressRules {
    EgressPolicy policy = EgressPolicy::kDefault;
    std::vector<Cidr> allow;  // allowed whatever the policy says
};

// Returns why a call may not go to `address` ("link-local"), or nullopt if it may. IPv6 forms that
// embed an IPv4 address (mapped, compatible, translated, 6to4, Teredo, NAT64) are also judged by
// the embedded address.
std::optional<std::string_view> RefusalOf(const IpAddress& address, const EgressRules& rules);

}  // namespace ksana::http_client

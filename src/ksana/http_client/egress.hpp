#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

// Which addresses a call may go to. Pure: it judges binary addresses, never names, so that neither
// a changing DNS answer nor an odd spelling (http://2130706433/, http://127.1/) gets around it.

namespace ksana::http_client {

// The first four bytes are the address when it is IPv4, all sixteen when it is IPv6.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};
    bool is_v4 = true;

    std::string ToString() const;
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// "192.0.2.1" or "2001:db8::1", without brackets and zone.
std::optional<IpAddress> ParseIpAddress(std::string_view text);

// A range of addresses: those whose first `bits` are those of `base`.
struct Cidr {
    IpAddress base;
    int bits = 0;

    bool Holds(const IpAddress& address) const;
    friend bool operator==(const Cidr&, const Cidr&) = default;
};

// "10.0.0.0/8", "fd00::/8", or one address alone.
Result<Cidr> ParseCidr(std::string_view text);

enum class EgressPolicy : std::uint8_t {
    // Refused: link-local, the metadata services of clouds, multicast, broadcast, "this network".
    // Loopback and private addresses are fine: that is where one's own services are.
    kDefault,
    // Also refused: loopback, private, shared (CGNAT), unique local and every other special range.
    // For a server whose jobs are written by strangers.
    kPublic,
};

struct EgressRules {
    EgressPolicy policy = EgressPolicy::kDefault;
    std::vector<Cidr> allow;  // allowed whatever the policy says
};

// Why a call may not go to the address ("link-local"), or nothing. Forms that carry an IPv4 address
// (mapped, compatible, translated, 6to4, Teredo, NAT64) are judged by that one, too.
std::optional<std::string_view> RefusalOf(const IpAddress& address, const EgressRules& rules);

}  // namespace ksana::http_client

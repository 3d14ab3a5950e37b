#include "ksana/http_server/routing/host_rule.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "ksana/base/text/names.hpp"

namespace ksana::http_server {
namespace {

constexpr std::string_view kV4InV6 = "::ffff:";

// Returns the host without port and brackets, in lower case.
std::string HostNameOf(std::string_view host) {
    if (host.starts_with('[')) {
        host = host.substr(1, host.find(']') - 1);
    } else if (std::ranges::count(host, ':') == 1) {
        host = host.substr(0, host.find(':'));
    }
    std::string name(host);
    std::ranges::transform(name, name.begin(), [](char c) { return Lower(c); });
    return name;
}

// Returns an IP address in its usual form, that of an IPv4 address inside IPv6 as IPv4; "" for any
// other text. Only the form with four decimal numbers is an IPv4 address.
std::string AddressOf(const std::string& name) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    std::array<char, INET6_ADDRSTRLEN> text{};
    for (const int family : {AF_INET, AF_INET6}) {
        if (::inet_pton(family, name.c_str(), bytes.data()) != 1) continue;
        std::string address = ::inet_ntop(family, bytes.data(), text.data(), text.size());
        const bool v4 = address.starts_with(kV4InV6) && address.find('.') != std::string::npos;
        return v4 ? address.substr(kV4InV6.size()) : address;
    }
    return {};
}

bool IsLoopback(const std::string& address) {
    return address == "::1" || address.starts_with("127.");
}

}  // namespace

HostRule::HostRule(const std::vector<std::string>& names, bool any_address)
    : any_address_(any_address) {
    for (const std::string& one : names) {
        std::string name = HostNameOf(one);
        const std::string address = AddressOf(name);
        names_.push_back(address.empty() ? std::move(name) : address);
    }
}

bool HostRule::Accepts(std::string_view host) const {
    const std::string name = HostNameOf(host);
    if (name == "localhost") return true;
    const std::string address = AddressOf(name);
    if (!address.empty() && (any_address_ || IsLoopback(address))) return true;
    return !name.empty() &&
           std::ranges::find(names_, address.empty() ? name : address) != names_.end();
}

}  // namespace ksana::http_server

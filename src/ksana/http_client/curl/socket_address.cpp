#include "ksana/http_client/curl/socket_address.hpp"

#include <netinet/in.h>

#include <cstring>

namespace ksana::http_client {

std::optional<Target> TargetOf(const curl_sockaddr& from) {
    Target target;
    if (from.family == AF_INET && from.addrlen >= sizeof(sockaddr_in)) {
        sockaddr_in v4{};
        std::memcpy(&v4, &from.addr, sizeof v4);
        std::memcpy(target.address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
        target.port = ntohs(v4.sin_port);
        return target;
    }
    if (from.family == AF_INET6 && from.addrlen >= sizeof(sockaddr_in6)) {
        sockaddr_in6 v6{};
        // `from.addr` is declared as a sockaddr, but libcurl reserves room for any address there.
        const void* bytes = &from.addr;
        std::memcpy(&v6, bytes, sizeof v6);
        std::memcpy(target.address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
        target.address.is_v4 = false;
        target.port = ntohs(v6.sin6_port);
        return target;
    }
    return std::nullopt;
}

const sockaddr* SocketAddress::get() const {
    const void* plain = &bytes;
    return static_cast<const sockaddr*>(plain);
}

SocketAddress SocketAddressOf(const Target& target) {
    SocketAddress address;
    const auto port = htons(static_cast<std::uint16_t>(target.port));
    if (target.address.is_v4) {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = port;
        std::memcpy(&v4.sin_addr, target.address.bytes.data(), sizeof v4.sin_addr);
        std::memcpy(&address.bytes, &v4, sizeof v4);
        address.size = sizeof v4;
        return address;
    }
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = port;
    std::memcpy(&v6.sin6_addr, target.address.bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&address.bytes, &v6, sizeof v6);
    address.size = sizeof v6;
    return address;
}

}  // namespace ksana::http_client

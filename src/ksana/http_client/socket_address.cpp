#include "ksana/http_client/socket_address.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace ksana::http_client {

std::string WithPort(std::string_view address, long port) {
    const bool is_v4 = address.find(':') == std::string_view::npos;
    std::string text(is_v4 ? "" : "[");
    text += address;
    text += is_v4 ? ":" : "]:";
    text += std::to_string(port);
    return text;
}

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
        // libcurl's structure ends in room for any address, though its type says sockaddr.
        const void* bytes = &from.addr;
        std::memcpy(&v6, bytes, sizeof v6);
        std::memcpy(target.address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
        target.address.is_v4 = false;
        target.port = ntohs(v6.sin6_port);
        return target;
    }
    return std::nullopt;
}

}  // namespace ksana::http_client

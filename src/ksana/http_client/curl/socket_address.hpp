#pragma once

#include <curl/curl.h>
#include <sys/socket.h>

#include <optional>

#include "ksana/http_client/plain/address_cache.hpp"

// Private to the module: it exposes libcurl's types.

namespace ksana::http_client {

// Returns nullopt if the address is neither IPv4 nor IPv6.
std::optional<Target> TargetOf(const curl_sockaddr& from);

// An address and port in the form that connect(2) takes.
struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    const sockaddr* get() const;
};

SocketAddress SocketAddressOf(const Target& target);

}  // namespace ksana::http_client

#pragma once

#include <curl/curl.h>
#include <sys/socket.h>

#include <optional>

#include "ksana/http_client/plain/name_memory.hpp"

// Private to the module, as it shows libcurl.

namespace ksana::http_client {

// Nothing: neither IPv4 nor IPv6.
std::optional<Target> TargetOf(const curl_sockaddr& from);

// The form that the system's calls take.
struct SocketAddress {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    const sockaddr* get() const;
};

SocketAddress SocketAddressOf(const Target& target);

}  // namespace ksana::http_client

#pragma once

#include <curl/curl.h>

#include <optional>
#include <string>
#include <string_view>

#include "ksana/http_client/egress.hpp"

// Private to the module, as it shows libcurl.

namespace ksana::http_client {

// Where a socket is to be connected to.
struct Target {
    IpAddress address;
    int port = 0;
};

// Nothing: neither IPv4 nor IPv6.
std::optional<Target> TargetOf(const curl_sockaddr& from);

// "127.0.0.1:80", "[::1]:80".
std::string WithPort(std::string_view address, long port);

}  // namespace ksana::http_client

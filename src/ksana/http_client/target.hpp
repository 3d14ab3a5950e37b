#pragma once

#include <string>
#include <string_view>

#include "ksana/http_client/egress.hpp"

namespace ksana::http_client {

// Where a socket is to be connected to.
struct Target {
    IpAddress address;
    int port = 0;
    friend bool operator==(const Target&, const Target&) = default;
};

// "127.0.0.1:80", "[::1]:80".
std::string WithPort(std::string_view address, long port);

}  // namespace ksana::http_client

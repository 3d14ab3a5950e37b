#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::http_server {

struct ListenAddress {
    std::string address;  // without brackets
    std::uint16_t port = 0;
};

// Splits "127.0.0.1:7200" or "[::1]:7200". kInvalidArgument if it is neither.
Result<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace ksana::http_server

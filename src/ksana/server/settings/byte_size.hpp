#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::server {

// "1MB", "512KiB", "65536": whole, with B, KB, MB, GB (thousands) or KiB, MiB, GiB (1024), or
// bytes.
Result<std::uint64_t> ParseByteSize(std::string_view text);

// In the largest unit that leaves it whole: "1MB", "64KiB", "1001B".
std::string FormatByteSize(std::uint64_t bytes);

}  // namespace ksana::server

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::server {

// Parses "1MB", "512KiB" or "65536": a whole number with B, KB, MB, GB (powers of 1000) or KiB,
// MiB, GiB (powers of 1024), or without a unit, in bytes. Fails with kInvalidArgument.
Result<std::uint64_t> ParseByteSize(std::string_view text);

// Returns the size in the largest unit that gives a whole number: "1MB", "64KiB", "1001B".
std::string FormatByteSize(std::uint64_t bytes);

}  // namespace ksana::server

#include "ksana/server/settings/byte_size.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <limits>

namespace ksana::server {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t bytes;
};

// Largest first, as FormatByteSize needs.
constexpr std::array<Unit, 7> kUnits = {{{"GiB", 1ULL << 30},
                                         {"GB", 1'000'000'000},
                                         {"MiB", 1ULL << 20},
                                         {"MB", 1'000'000},
                                         {"KiB", 1ULL << 10},
                                         {"KB", 1'000},
                                         {"B", 1}}};

}  // namespace

Result<std::uint64_t> ParseByteSize(std::string_view text) {
    std::uint64_t count = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view unit = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
    if (read.ec == std::errc()) {
        for (const Unit& one : kUnits) {
            const bool fits = count <= std::numeric_limits<std::uint64_t>::max() / one.bytes;
            if (unit == one.name && fits) return count * one.bytes;
        }
        if (unit.empty()) return count;
    }
    return Error(Code::kInvalidArgument, "write a size such as 1MB, 512KiB or 65536");
}

std::string FormatByteSize(std::uint64_t bytes) {
    for (const Unit& unit : kUnits) {
        if (bytes >= unit.bytes && bytes % unit.bytes == 0) {
            return fmt::format("{}{}", bytes / unit.bytes, unit.name);
        }
    }
    return "0B";
}

}  // namespace ksana::server

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ksana {

// The HTTP methods that Ksana serves and sends. SQLite stores the number of a job's method
// (store_sqlite/rows/packed_job.cpp): new methods go to the end.
enum class HttpMethod : std::uint8_t { kGet, kPost, kPut, kPatch, kDelete, kHead, kOptions };

inline constexpr std::array<std::string_view, 7> kHttpMethodNames = {
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};

constexpr std::string_view NameOf(HttpMethod method) {
    return kHttpMethodNames[static_cast<std::size_t>(method)];
}

// Methods are case-sensitive. Returns nothing for an unknown method.
constexpr std::optional<HttpMethod> ParseHttpMethod(std::string_view text) {
    for (std::size_t i = 0; i < kHttpMethodNames.size(); ++i) {
        if (kHttpMethodNames[i] == text) return static_cast<HttpMethod>(i);
    }
    return std::nullopt;
}

}  // namespace ksana

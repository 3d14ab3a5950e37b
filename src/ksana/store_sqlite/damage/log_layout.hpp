#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ksana::store_sqlite {

// The layout of SQLite's files that the checksums need (sqlite.org/fileformat2.html): pages of 4096
// bytes, and a log of a header and frames, each a header and a page.

inline constexpr std::int64_t kPageBytes = 4096;
inline constexpr std::int64_t kLogHeaderBytes = 32;
inline constexpr std::int64_t kFrameHeaderBytes = 24;
inline constexpr std::int64_t kFrameBytes = kFrameHeaderBytes + kPageBytes;

// A number of four bytes, the highest first.
constexpr std::uint32_t Big32(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    constexpr std::size_t kCount = 4;
    constexpr unsigned kBits = 8;
    for (std::size_t i = 0; i < kCount; ++i) {
        number = number << kBits | static_cast<unsigned char>(bytes[at + i]);
    }
    return number;
}

// Places inside the header of the log and of a frame.
inline constexpr std::size_t kLogSaltAt = 16;
inline constexpr std::size_t kFrameCommitAt = 4;  // pages of the database; 0: not the last frame
inline constexpr std::size_t kFrameSaltAt = 8;

using Salts = std::array<std::uint32_t, 2>;

constexpr Salts SaltsAt(std::string_view bytes, std::size_t at) {
    return {Big32(bytes, at), Big32(bytes, at + 4)};
}

}  // namespace ksana::store_sqlite

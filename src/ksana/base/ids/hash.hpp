#pragma once

#include <cstdint>
#include <string_view>

namespace ksana {

// Deterministic hashes for spreading load (jitter of fires and retries). Stored times depend on
// them, so they must stay the same on every machine and in every version. Not for security.

constexpr std::uint64_t MixBits(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

constexpr std::uint64_t HashText(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return MixBits(hash);
}

constexpr std::uint64_t HashText(std::string_view text, std::int64_t number) {
    return MixBits(HashText(text) ^ MixBits(static_cast<std::uint64_t>(number)));
}

}  // namespace ksana

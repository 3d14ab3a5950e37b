#include "ksana/base/random.hpp"

#include <sys/random.h>

#include <bit>
#include <cerrno>

#include "ksana/base/check.hpp"
#include "ksana/base/hash.hpp"

namespace ksana {

std::uint64_t Random::Below(std::uint64_t bound) {
    KSANA_CHECK(bound > 0, "Below(0) has no answer");
    // Draws above the last whole multiple of bound would favour small results: draw again.
    const std::uint64_t reject_below = (0 - bound) % bound;
    for (;;) {
        const std::uint64_t draw = Next();
        if (draw >= reject_below) return draw % bound;
    }
}

void Random::Fill(std::span<std::uint8_t> bytes) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i % 8 == 0) bits = Next();
        bytes[i] = static_cast<std::uint8_t>(bits);
        bits >>= 8U;
    }
}

SeededRandom::SeededRandom(std::uint64_t seed) : state_{} {
    for (std::uint64_t& word : state_) {
        seed = MixBits(seed);
        word = seed;
    }
}

std::uint64_t SeededRandom::Next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

std::uint64_t SystemRandom::Next() {
    std::uint64_t value = 0;
    ssize_t got = 0;
    do {
        got = getrandom(&value, sizeof value, 0);
    } while (got < 0 && errno == EINTR);
    KSANA_CHECK(got == static_cast<ssize_t>(sizeof value), "the kernel gives no random numbers");
    return value;
}

}  // namespace ksana

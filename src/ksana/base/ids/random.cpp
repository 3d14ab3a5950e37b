#include "ksana/base/ids/random.hpp"

#include <pthread.h>
#include <sys/random.h>

#include <atomic>
#include <bit>
#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/hash.hpp"

namespace ksana {

std::uint64_t Random::Below(std::uint64_t bound) {
    KSANA_CHECK(bound > 0, "Below(0) has no answer");
    // Rejects the lowest 2^64 mod bound draws, which would make some results more likely than
    // others.
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

namespace {

// The number of forks of this process and its ancestors. A child must not reuse its parent's
// numbers.
std::atomic<std::uint64_t> forks = 0;

void CountForks() {
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    KSANA_CHECK(registered == 0, "pthread_atfork");
}

// Random numbers of one thread. getrandom(2) returns up to 256 bytes in full, uninterrupted by
// signals.
class Pool {
  public:
    std::uint64_t Take() {
        if (left_ == 0 || forks_ != forks.load(std::memory_order_relaxed)) Refill();
        return std::exchange(numbers_[--left_], 0);
    }

  private:
    void Refill() {
        CountForks();
        forks_ = forks.load(std::memory_order_relaxed);
        const ssize_t got = getrandom(numbers_.data(), sizeof numbers_, 0);
        KSANA_CHECK(got == static_cast<ssize_t>(sizeof numbers_),
                    "the kernel gives no random numbers");
        left_ = numbers_.size();
    }

    std::array<std::uint64_t, 32> numbers_{};
    std::size_t left_ = 0;
    std::uint64_t forks_ = 0;
};

}  // namespace

std::uint64_t SystemRandom::Next() {
    static thread_local Pool pool;
    return pool.Take();
}

}  // namespace ksana

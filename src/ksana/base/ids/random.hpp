#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace ksana {

// The source of all randomness, injected so that a simulation can be repeated from its seed. Each
// implementation states whether it is thread-safe.
class Random {
  public:
    virtual ~Random() = default;

    virtual std::uint64_t Next() = 0;

    // Returns a uniformly distributed number in [0, bound); bound > 0.
    std::uint64_t Below(std::uint64_t bound);
    void Fill(std::span<std::uint8_t> bytes);
};

// A repeatable sequence from a seed (xoshiro256**). Not thread-safe, not for secrets.
class SeededRandom final : public Random {
  public:
    explicit SeededRandom(std::uint64_t seed);
    std::uint64_t Next() override;

  private:
    std::array<std::uint64_t, 4> state_;
};

// The kernel's generator: unpredictable, for ids and tokens. Thread-safe. Each thread buffers 256
// bytes from the kernel; a forked child discards its parent's buffer. Aborts if the kernel fails.
class SystemRandom final : public Random {
  public:
    std::uint64_t Next() override;
};

}  // namespace ksana

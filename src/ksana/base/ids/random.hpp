#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace ksana {

// Where all randomness comes from, so that a simulation repeats from its seed.
class Random {
  public:
    virtual ~Random() = default;

    virtual std::uint64_t Next() = 0;

    // Uniform in [0, bound); bound > 0.
    std::uint64_t Below(std::uint64_t bound);
    void Fill(std::span<std::uint8_t> bytes);
};

// Repeats from its seed (xoshiro256**). Not thread-safe, not for secrets.
class SeededRandom final : public Random {
  public:
    explicit SeededRandom(std::uint64_t seed);
    std::uint64_t Next() override;

  private:
    std::array<std::uint64_t, 4> state_;
};

// The kernel's generator: unpredictable, for ids and tokens. Thread-safe; each thread asks the
// kernel for a few hundred bytes at a time, and a forked child asks anew.
class SystemRandom final : public Random {
  public:
    std::uint64_t Next() override;
};

}  // namespace ksana

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana {

// A 128-bit id. Sorts as its bytes, which for version 7 is by time of making.
struct Uuid {
    std::array<std::uint8_t, 16> bytes{};

    // Lower case with dashes, 36 characters.
    std::string ToString() const;

    // Exactly that form, either case; anything else is nothing.
    static std::optional<Uuid> Parse(std::string_view text);
    // Only what ToString writes: lower case.
    static std::optional<Uuid> ParseExact(std::string_view text);

    bool IsNil() const { return (Half(0) | Half(8)) == 0; }
    friend bool operator==(const Uuid& a, const Uuid& b) {
        return a.Half(0) == b.Half(0) && a.Half(8) == b.Half(8);
    }
    friend std::strong_ordering operator<=>(const Uuid& a, const Uuid& b) {
        return std::memcmp(a.bytes.data(), b.bytes.data(), sizeof a.bytes) <=> 0;
    }

  private:
    // Eight bytes at once: ids are compared at every turn, and byte by byte that is a call.
    std::uint64_t Half(std::size_t from) const {
        std::uint64_t half = 0;
        std::memcpy(&half, bytes.data() + from, sizeof half);
        return half;
    }
};

struct UuidHash {
    std::size_t operator()(const Uuid& id) const {
        std::uint64_t low = 0;  // the random part
        std::memcpy(&low, id.bytes.data() + sizeof low, sizeof low);
        return MixBits(low);
    }
};

// Makes version 7 ids (RFC 9562): milliseconds, then a counter that makes every id of this
// generator greater than the one before, also when the wall clock is set back, then random bits.
// Thread-safe when its Random is, or is used by nobody else. Clock and Random must outlive it.
class UuidGenerator {
  public:
    UuidGenerator(const Clock& clock, Random& random) : clock_(clock), random_(random) {}

    Uuid Next();

  private:
    const Clock& clock_;
    Random& random_ KSANA_GUARDED_BY(mutex_);
    Mutex mutex_;
    std::int64_t last_ms_ KSANA_GUARDED_BY(mutex_) = -1;
    std::uint32_t counter_ KSANA_GUARDED_BY(mutex_) = 0;  // 12 bits of rand_a
};

}  // namespace ksana

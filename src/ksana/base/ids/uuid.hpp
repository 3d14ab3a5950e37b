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

// A 128-bit id. Orders by bytes; version 7 ids thus order by creation time.
struct Uuid {
    std::array<std::uint8_t, 16> bytes{};

    // Returns 36 characters, in lower case with dashes.
    std::string ToString() const;

    // Accepts the form of ToString in either case; otherwise nullopt.
    static std::optional<Uuid> Parse(std::string_view text);
    // Accepts the form of ToString in lower case only.
    static std::optional<Uuid> ParseExact(std::string_view text);

    bool IsNil() const { return (Half(0) | Half(8)) == 0; }
    // Returns the milliseconds since 1970 at which a version 7 id was made; of others nullopt.
    std::optional<std::int64_t> MadeAtMs() const;
    friend bool operator==(const Uuid& a, const Uuid& b) {
        return a.Half(0) == b.Half(0) && a.Half(8) == b.Half(8);
    }
    friend std::strong_ordering operator<=>(const Uuid& a, const Uuid& b) {
        return std::memcmp(a.bytes.data(), b.bytes.data(), sizeof a.bytes) <=> 0;
    }

  private:
    // Eight bytes at once: ids are compared often, and comparing single bytes would be a call.
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

// Makes a version 4 id: only random bits, so it says nothing about order.
Uuid RandomUuid(Random& random);

// Makes version 7 ids (RFC 9562): milliseconds, a counter, then random bits. The counter makes
// every id of a generator greater than its predecessor, even after the wall clock was set back.
// Thread-safe if the Random is thread-safe or used by nothing else. Clock and Random must outlive
// the generator.
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

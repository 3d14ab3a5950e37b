#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// How locks are written into etcd's keys and values. Pure functions.

namespace ksana::lock_etcd {

// The gateway has keys and values in base64. Decoding returns nothing for other text.
std::string ToBase64(std::string_view bytes);
std::optional<std::string> FromBase64(std::string_view text);

// Returns the key that remembers the stamp of the lock `key`. No lock has this name, as it contains
// a NUL.
std::string StampKey(std::string_view key);

// A stamp as 20 characters whose order as bytes is that of the numbers.
std::string StampText(std::int64_t stamp);
std::optional<std::int64_t> ParseStamp(std::string_view text);

// The largest base or fence that is read; larger ones are none of ours.
inline constexpr std::int64_t kLargestFence = std::int64_t{1} << 62;

// The value of a held lock: who holds it and under which fence. The fence of a new holder contains
// the revision of the write itself, which is known only afterwards: the value has the number to add
// to it. A write that only exchanges the lease has the fence itself.
struct Holding {
    std::string token;
    std::int64_t number = 0;
    bool add_revision = true;

    // `revision`: the revision of the write of this value.
    std::int64_t Fence(std::int64_t revision) const {
        return add_revision ? number + revision : number;
    }
    friend bool operator==(const Holding&, const Holding&) = default;
};

// "+1790000000000000:token", "=1790000000000007:token"
std::string HoldingText(const Holding& holding);
// Returns nothing for a value that HoldingText does not produce, such as one written by hand.
std::optional<Holding> ParseHolding(std::string_view text);

// Returns nothing unless `text` is a decimal number from 0 to kLargestFence.
std::optional<std::int64_t> ParseFenceNumber(std::string_view text);

}  // namespace ksana::lock_etcd

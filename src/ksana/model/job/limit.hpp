#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

// A token bucket: `count` starts per `per`, refilled evenly, with room for `burst` tokens.
struct Rate {
    std::int64_t count = 1;
    Duration per = std::chrono::seconds(1);
    // The number of starts that may come at once after an idle period. With 1, starts are evenly
    // spaced (to ten milliseconds), and no window of length `per` has more than `count` starts.
    std::int64_t burst = 1;
    friend bool operator==(const Rate&, const Rate&) = default;
};

// A bound on concurrent attempts and on the rate of starts, over all nodes of a store
// (limit_share.hpp). Either may be absent.
struct Limit {
    std::string description;
    std::optional<std::int32_t> max_concurrency;
    std::optional<Rate> rate;
    friend bool operator==(const Limit&, const Limit&) = default;
};

inline constexpr std::int32_t kMaxConcurrency = 1'000'000;
inline constexpr std::int64_t kMaxRateCount = 1'000'000;
inline constexpr Duration kMinRatePer = std::chrono::milliseconds(1);
inline constexpr Duration kMaxRatePer = std::chrono::hours(24 * 31);

// What a limit applies to.
enum class LimitKind : std::uint8_t { kNode, kGroup, kType, kHost };

template <>
struct EnumNames<LimitKind> {
    static constexpr std::array<std::string_view, 4> kNames = {"node", "group", "type", "host"};
};

}  // namespace ksana::model

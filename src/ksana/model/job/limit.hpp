#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

// So many starts in a time: a bucket that fills evenly and holds `burst`.
struct Rate {
    std::int64_t count = 1;
    Duration per = std::chrono::seconds(1);
    // That may come at once after a silence. With one, starts are evenly apart, to ten
    // milliseconds, and no stretch of `per` has more than `count`.
    std::int64_t burst = 1;
    friend bool operator==(const Rate&, const Rate&) = default;
};

// What may be under way at once and started in a time, on each node. Either may be absent.
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

// What a limit is for.
enum class LimitKind : std::uint8_t { kNode, kGroup, kType, kHost };

template <>
struct EnumNames<LimitKind> {
    static constexpr std::array<std::string_view, 4> kNames = {"node", "group", "type", "host"};
};

}  // namespace ksana::model

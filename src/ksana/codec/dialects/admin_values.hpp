#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ksana/base/text/json_output.hpp"
#include "ksana/base/time/time.hpp"

// Values of document N: times are milliseconds since 1970, and what is missing is null.

namespace ksana::codec {

inline std::int64_t EpochMs(TimePoint time) {
    return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

inline std::optional<std::int64_t> EpochMs(const std::optional<TimePoint>& time) {
    return time ? std::optional(EpochMs(*time)) : std::nullopt;
}

inline void IntOrNull(JsonOutput& output, std::string_view key,
                      const std::optional<std::int64_t>& value) {
    output.Key(key);
    if (value) {
        output.Int(*value);
    } else {
        output.Null();
    }
}

}  // namespace ksana::codec

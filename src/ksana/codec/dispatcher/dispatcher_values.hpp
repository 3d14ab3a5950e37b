#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "ksana/base/text/json_output.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/json/value_writer.hpp"

// Used inside codec/ only. Values of document D: durations are seconds, and what is missing is
// null.

namespace ksana::codec {

template <class T>
void ValueOrNull(const ValueWriter& writer, std::string_view key, const std::optional<T>& value) {
    writer.output().Key(key);
    if (value) {
        writer.Write(*value);
    } else {
        writer.output().Null();
    }
}

// Writes whole seconds as a whole number.
inline void SecondsOrNull(JsonOutput& output, std::string_view key,
                          const std::optional<Duration>& value) {
    output.Key(key);
    if (!value) return output.Null();
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(*value);
    if (whole == *value) return output.Int(whole.count());
    output.Double(std::chrono::duration<double>(*value).count());
}

// A value of any size in a list is left out above this: a page of 500 items stays within 8 MB.
inline constexpr std::size_t kMaxListedJson = std::size_t{16} * 1024;

// How much of a task or an execution is shown.
enum class DispatcherView : std::uint8_t { kListed, kWhole };

}  // namespace ksana::codec

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/schedule/zone/posix_rule.hpp"

namespace ksana::schedule {

// What a TZif file (RFC 8536) says, as it stands there.
struct TzifData {
    struct Transition {
        std::int64_t at;
        std::uint8_t kind;
    };
    std::vector<PosixRule::Kind> kinds;
    std::vector<Transition> transitions;  // strictly ascending
    PosixRule::Kind initial;              // before the first transition
    std::optional<PosixRule> rule;        // after the last
};

// Checks every count and index: a damaged file is an error, never a read out of bounds. Files of
// version 1 and files with leap seconds are refused.
Result<TzifData> ParseTzif(std::string_view bytes);

}  // namespace ksana::schedule

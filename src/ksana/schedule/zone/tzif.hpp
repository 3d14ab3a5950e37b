#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/schedule/zone/posix_rule.hpp"

namespace ksana::schedule {

// The content of a TZif file (RFC 8536).
struct TzifData {
    struct Transition {
        std::int64_t at;
        std::uint8_t kind;
    };
    std::vector<PosixRule::Kind> kinds;
    std::vector<Transition> transitions;  // strictly ascending
    PosixRule::Kind initial;              // before the first transition
    std::optional<PosixRule> rule;        // after the last transition; none: the last kind stays
};

// Parses a TZif file. Checks every count and index: a damaged file yields kDataLoss, never a read
// out of bounds. Version 1 files and files with leap seconds are refused, too.
Result<TzifData> ParseTzif(std::string_view bytes);

}  // namespace ksana::schedule

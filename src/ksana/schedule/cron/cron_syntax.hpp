#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ksana/schedule/cron/cron_spec.hpp"

namespace ksana::schedule {

struct CronSyntax {
    CronDialect dialect = CronDialect::kStandard;
    DayMatch day_match = DayMatch::kOr;  // ignored in the library dialect, which is always kAnd
};

enum class CronField : std::uint8_t { kSecond, kMinute, kHour, kDay, kMonth, kWeekday, kWhole };

// A parse error and the characters it concerns.
struct CronFault {
    enum class Kind : std::uint8_t {
        kNone,
        kEmpty,
        kTooLong,
        kTooFewFields,
        kTooManyFields,
        kUnknownMacro,
        kBadCharacter,
        kEmptyItem,
        kNumberExpected,
        kUnknownName,
        kOutOfRange,
        kReversed,
        kBadStep,
        kBadOffset,
        kBadNth,
        kBadForm,
        kNotInDialect,
    };
    Kind kind = Kind::kNone;
    CronField field = CronField::kWhole;
    std::uint32_t position = 0;
    std::uint32_t length = 0;
};

struct CronParsed {
    CronSpec spec;
    CronFault fault;
};

// Generous: the longest sensible expression is a fraction of this.
inline constexpr std::size_t kMaxCronLength = 1024;

struct CronFieldRange {
    std::string_view name;
    int low;
    int high;
};

inline constexpr std::array<CronFieldRange, 7> kCronFields = {{{"second", 0, 59},
                                                               {"minute", 0, 59},
                                                               {"hour", 0, 23},
                                                               {"day of month", 1, 31},
                                                               {"month", 1, 12},
                                                               {"day of week", 0, 7},
                                                               {"expression", 0, 0}}};

}  // namespace ksana::schedule

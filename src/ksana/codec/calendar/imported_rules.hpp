#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::codec {

inline constexpr std::size_t kMaxImportBytes = 1 << 20;
inline constexpr std::size_t kMaxImportedRules = 10'000;
// A text with more lines that cannot be read is taken for another format.
inline constexpr std::size_t kMaxSkippedLines = 1'000;

// A part of an imported text that yields no rule, and the reason.
struct SkippedLine {
    std::size_t line = 0;  // from 1
    std::string reason;
    friend bool operator==(const SkippedLine&, const SkippedLine&) = default;
};

struct ImportedRules {
    std::vector<schedule::CalendarRule> rules;
    std::vector<SkippedLine> skipped;
    friend bool operator==(const ImportedRules&, const ImportedRules&) = default;
};

// Read days, spans of days and windows from calendars of other programs. Both fail (at "/text") if
// the text is too large, is not of this format or yields no rule at all.

// Reads RFC 5545. In each VEVENT, days (VALUE=DATE, with DTEND or a DURATION of days) become dates;
// with an RRULE of FREQ=YEARLY that only repeats the day, they become a rule for each day of the
// year. A time of day without a zone, of at most a day, becomes a window on its date. What a rule
// cannot express is skipped with a reason. A yearly event that begins after `today` begins then.
Result<ImportedRules> RulesFromIcs(std::string_view text, const schedule::Date& today);

// Reads lines of date[,end][,name], with dates as 2026-10-01 and an inclusive end; names are not
// kept. The first line may be a header. Fields may be in double quotes.
Result<ImportedRules> RulesFromCsv(std::string_view text);

// Collects rules and skipped lines for both formats, and checks the limits above. The readers call
// Check for every rule or line, and Take at the end. For one thread.
class RuleCollector {
  public:
    void Add(schedule::CalendarRule rule) { found_.rules.push_back(std::move(rule)); }
    void Skip(std::size_t line, std::string reason) {
        found_.skipped.push_back({line, std::move(reason)});
    }
    Result<void> Check() const;
    Result<ImportedRules> Take();

  private:
    ImportedRules found_;
};
Result<void> CheckImportSize(std::string_view text);

}  // namespace ksana::codec

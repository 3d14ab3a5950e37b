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
// With more lines that say nothing to us it is another kind of text.
inline constexpr std::size_t kMaxSkippedLines = 1'000;

// A part of an imported text that became no rule, and why.
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

// Days, spans of days and windows out of other programs' calendars. Both are pure, and fail (at
// "/text") where the text is too large, is not of this format or holds no rule at all.

// RFC 5545. Of each VEVENT: days (VALUE=DATE, with DTEND or a DURATION of days) become dates; with
// an RRULE of FREQ=YEARLY that only repeats the day, a rule for each day of the year. A time of day
// without a zone, of at most a day, becomes a window on its date. Whatever a rule cannot say is
// skipped with a reason. A yearly event that begins after `today` begins then.
Result<ImportedRules> RulesFromIcs(std::string_view text, const schedule::Date& today);

// Lines of date[,end][,name], the dates as 2026-10-01 and the end inclusive; names are not kept.
// The first line may be a header. Fields may stand in double quotes.
Result<ImportedRules> RulesFromCsv(std::string_view text);

// What both have in common: the limits above. Called for every rule or line, and at the end.
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

#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"
#include "ksana/schedule/cron/cron_pattern.hpp"
#include "ksana/schedule/describe.hpp"

// Checks that no text crashes or hangs the parser, and that a parsed expression, printed and parsed
// again, is the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ksana::schedule;
    const std::string_view text = ksana::fuzz::AsText(data, size);
    for (const CronDialect dialect : {CronDialect::kStandard, CronDialect::kLibrary}) {
        const CronSyntax syntax{dialect, DayMatch::kOr};
        const CronParsed parsed = ParseCronText(text, syntax);
        if (parsed.fault.kind != CronFault::Kind::kNone) {
            KSANA_CHECK(parsed.fault.position + parsed.fault.length <= text.size(),
                        "a fault points outside the text");
            KSANA_CHECK(!DescribeCronFault(text, parsed.fault, dialect).empty(), "no reason given");
            continue;
        }
        KSANA_CHECK(ParseCronText(FormatCron(parsed.spec), syntax).spec == parsed.spec,
                    "what was printed means something else");
        KSANA_CHECK(!DescribeCron(parsed.spec).empty(), "no sentence");
        const CronPattern pattern(parsed.spec);
        const auto next = pattern.Next(1'767'225'600, 1'767'225'600 + kCalendarCycleSeconds);
        KSANA_CHECK(next.has_value() == pattern.CanMatch(), "wrong about ever firing");
        if (next) KSANA_CHECK(pattern.Previous(*next, *next) == next, "previous misses next");
    }
    return 0;
}

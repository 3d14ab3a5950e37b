#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/codec/calendar/imported_rules.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace {

// Checks that imported rules form a valid calendar and survive a round trip.
void Check(const ksana::Result<ksana::codec::ImportedRules>& found) {
    using namespace ksana;
    if (!found) {
        KSANA_CHECK(!found.error().problems.empty(), "a refusal names the fault");
        return;
    }
    for (const schedule::CalendarRule& rule : found->rules) {
        schedule::Calendar calendar;
        calendar.name = "c";
        calendar.exclude.push_back(rule);
        KSANA_CHECK(schedule::ValidateCalendar(calendar).empty(), "an import made a bad rule");
        const auto back = codec::CalendarFromJson(codec::CalendarToJson(calendar));
        KSANA_CHECK(back && *back == calendar, "a rule does not read back the same");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ksana::fuzz::AsText(data, size);
    Check(ksana::codec::RulesFromIcs(text, {2026, 11, 16}));
    Check(ksana::codec::RulesFromCsv(text));
    return 0;
}

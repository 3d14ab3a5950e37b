#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/model/validate.hpp"
#include "ksana/schedule/schedule.hpp"

// Checks that accepted definitions survive a round trip, and that validation accepts any parsed
// value without a crash.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ksana;
    const std::string_view text = ksana::fuzz::AsText(data, size);
    static schedule::ZoneDatabase zones;
    if (const auto parsed = codec::DefinitionsFromJson(text)) {
        const auto back = codec::DefinitionsFromJson(codec::DefinitionsToJson(*parsed));
        KSANA_CHECK(back && *back == *parsed, "definitions do not read back the same");
        std::shared_ptr<const schedule::CalendarIndex> index;
        for (const auto& calendar : parsed->calendars) {
            if (!ValidateCalendar(calendar).empty()) continue;
            index = std::make_shared<const schedule::CalendarIndex>(calendar);
        }
        const auto find = [&index](std::string_view) { return index; };
        for (const auto& job : parsed->jobs) (void)model::ValidateJob(job, {zones, {}, find});
    }
    return 0;
}

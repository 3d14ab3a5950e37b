#include <optional>

#include "ksana/codec/calendar/ics_event.hpp"
#include "ksana/codec/calendar/ics_lines.hpp"
#include "ksana/codec/calendar/imported_rules.hpp"

namespace ksana::codec {
namespace {

Error NoCalendar() {
    return Error(std::vector<Problem>{{"/text", "does not begin with BEGIN:VCALENDAR"}});
}

}  // namespace

Result<ImportedRules> RulesFromIcs(std::string_view text, const schedule::Date& today) {
    KSANA_TRY_VOID(CheckImportSize(text));
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    IcsReader reader(text);
    RuleCollector found;
    std::optional<IcsEvent> event;
    std::size_t inside = 0;  // depth inside components of the event, such as alarms
    bool begun = false;
    while (const auto line = reader.Next()) {
        const std::string part = UpperCase(line->value);
        if (!begun && (line->name != "BEGIN" || part != "VCALENDAR")) return NoCalendar();
        begun = true;
        if (!event) {
            if (line->name == "BEGIN" && part == "VEVENT") event.emplace(line->number);
        } else if (line->name == "BEGIN") {
            ++inside;
        } else if (line->name == "END" && inside > 0) {
            --inside;
        } else if (line->name == "END") {
            IcsEvent::Answer answer = event->Rules(today);
            if (!answer.fault.empty()) found.Skip(event->line(), std::move(answer.fault));
            for (const schedule::CalendarRule& rule : answer.rules) found.Add(rule);
            event.reset();
            KSANA_TRY_VOID(found.Check());
        } else if (inside == 0) {
            event->Read(*line);
        }
    }
    if (!begun) return NoCalendar();
    if (event) found.Skip(event->line(), "it does not end");
    return found.Take();
}

}  // namespace ksana::codec

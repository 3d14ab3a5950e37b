#include "ksana/api/v1/calendar_import.hpp"

#include <set>
#include <string>

#include "ksana/codec/v1/definitions.hpp"

namespace ksana::api {
namespace {

using schedule::CalendarRule;

// Returns the rules as texts, which have one order of members and so can be compared.
std::set<std::string> TextsOf(const std::vector<CalendarRule>& rules) {
    std::set<std::string> texts;
    for (const CalendarRule& rule : rules) texts.insert(codec::CalendarRuleToJson(rule));
    return texts;
}

}  // namespace

Result<codec::ImportedRules> ReadImported(const codec::CalendarImport& wish,
                                          const schedule::Date& today) {
    if (wish.format == codec::ImportFormat::kCsv) return codec::RulesFromCsv(wish.text);
    return codec::RulesFromIcs(wish.text, today);
}

CalendarChange ApplyImport(schedule::Calendar calendar, const codec::CalendarImport& wish,
                           const std::vector<CalendarRule>& rules) {
    CalendarChange change;
    auto& list = wish.list == codec::ImportList::kExclude ? calendar.exclude : calendar.include;
    if (wish.mode == codec::ImportMode::kReplace) {
        const std::set<std::string> given = TextsOf(rules);
        change.removed = static_cast<std::int64_t>(std::erase_if(list, [&](const auto& rule) {
            return !given.contains(codec::CalendarRuleToJson(rule));
        }));
    }
    std::set<std::string> there = TextsOf(list);
    for (const CalendarRule& rule : rules) {
        if (!there.insert(codec::CalendarRuleToJson(rule)).second) continue;
        list.push_back(rule);
        ++change.added;
    }
    change.calendar = std::move(calendar);
    return change;
}

}  // namespace ksana::api

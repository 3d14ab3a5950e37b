#include "apps/ksana/apply/apply_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

using codec::Json;

struct VerbWords {
    std::string_view sign;
    std::string_view name;
    Hue hue;
};

const VerbWords& WordsOf(PlanVerb verb) {
    static constexpr std::array<VerbWords, 4> kWords = {{
        {"+", "create", Hue::kGood},
        {"~", "change", Hue::kWarn},
        {"-", "delete", Hue::kBad},
        {"=", "same", Hue::kFaint},
    }};
    return kWords.at(static_cast<std::size_t>(verb));
}

std::string ValueText(const std::string& json, std::size_t room) {
    return json.empty() ? "(none)" : Printable(Excerpt(json, room));
}

// Formats "    schedule.cron: before -> after", with values cut to the width where possible.
std::string ChangeText(const FieldChange& change, std::size_t columns) {
    constexpr std::size_t kAround = 10;  // indentation, colon and arrow
    constexpr std::size_t kLeast = 15;   // minimum width of a value
    const std::string field = Printable(change.field);
    const std::size_t taken = std::min(columns, field.size() + kAround);
    const std::size_t left = std::max(columns - taken, 2 * kLeast);
    // A short value leaves its room to the other value.
    const std::size_t half = left / 2;
    const std::size_t before = std::min(change.before.size(), half);
    const std::size_t after = std::min(change.after.size(), half);
    return fmt::format("    {}: {} -> {}\n", field, ValueText(change.before, left - after),
                       ValueText(change.after, left - before));
}

std::string NotesOf(const PlanItem& item) {
    std::string notes;
    if (item.drifted) notes += "  (changed by hand since the last apply)";
    if (item.adopted) notes += "  (was not made by an apply of this set)";
    if (item.verb == PlanVerb::kChange && item.changes.empty()) notes += "  (only its mark)";
    return notes;
}

}  // namespace

std::string PlanSummary(const Plan& plan) {
    return fmt::format("{} to create, {} to change, {} to delete, {} the same",
                       plan.Count(PlanVerb::kCreate), plan.Count(PlanVerb::kChange),
                       plan.Count(PlanVerb::kDelete), plan.Count(PlanVerb::kSame));
}

std::string PlanText(const Plan& plan, const Style& style) {
    std::string text;
    for (const PlanItem& item : plan.items) {
        if (item.verb == PlanVerb::kSame && style.format != Format::kWide) continue;
        const VerbWords& words = WordsOf(item.verb);
        text += style.Paint(words.hue, fmt::format("{} {} {}", words.sign, NameOf(item.kind),
                                                   Printable(item.name)));
        text += NotesOf(item) + "\n";
        for (const FieldChange& change : item.changes) {
            text += ChangeText(change, style.columns);
        }
    }
    return text;
}

Json PlanToJson(const Plan& plan, const std::string& set, std::size_t done) {
    std::vector<Json> items;
    std::size_t left = done;
    for (const PlanItem& item : plan.items) {
        Json one = Json()
                       .With("/kind", Json::Of(NameOf(item.kind)))
                       .With("/name", Json::Of(item.name))
                       .With("/action", Json::Of(WordsOf(item.verb).name));
        std::vector<Json> changes;
        for (const FieldChange& change : item.changes) {
            const auto value = [](const std::string& json) {
                return json.empty() ? Json() : Json::Parse(json).value_or(Json());
            };
            changes.push_back(Json()
                                  .With("/field", Json::Of(change.field))
                                  .With("/before", value(change.before))
                                  .With("/after", value(change.after)));
        }
        if (!changes.empty()) one = one.With("/changes", Json::Array(changes));
        if (item.drifted) one = one.With("/drifted", Json::Of(true));
        if (item.adopted) one = one.With("/adopted", Json::Of(true));
        const bool is_done = item.verb != PlanVerb::kSame && left > 0;
        if (is_done) --left;
        items.push_back(one.With("/done", Json::Of(is_done)));
    }
    return Json()
        .With("/set", Json::Of(set))
        .With("/changes", Json::Of(plan.Changes()))
        .With("/items", Json::Array(items));
}

}  // namespace ksana::app

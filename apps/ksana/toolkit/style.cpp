#include "apps/ksana/toolkit/style.hpp"

#include <array>

#include <fmt/core.h>

#include "apps/ksana/toolkit/api_options.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

constexpr std::string_view kPlain = "\x1b[0m";

std::string_view CodeOf(Hue hue) {
    switch (hue) {
        case Hue::kHead:
            return "\x1b[1m";
        case Hue::kGood:
            return "\x1b[32m";
        case Hue::kBad:
            return "\x1b[31m";
        case Hue::kWarn:
            return "\x1b[33m";
        case Hue::kBusy:
            return "\x1b[36m";
        case Hue::kFaint:
            return "\x1b[2m";
        case Hue::kNone:
            break;
    }
    return "";
}

std::string Painted(Hue hue, std::string_view text) {
    if (hue == Hue::kNone || text.empty()) return std::string(text);
    return fmt::format("{}{}{}", CodeOf(hue), text, kPlain);
}

// Turns "id,schedule.cron" into JSON Pointers.
std::vector<std::string> PointersOf(std::string_view fields) {
    std::vector<std::string> pointers;
    while (!fields.empty()) {
        std::string_view field = fields.substr(0, fields.find(','));
        fields.remove_prefix(std::min(field.size() + 1, fields.size()));
        std::string pointer;
        while (!field.empty()) {
            const std::string_view step = field.substr(0, field.find('.'));
            field.remove_prefix(std::min(step.size() + 1, field.size()));
            pointer += PointerStep(step);
        }
        if (!pointer.empty()) pointers.push_back(std::move(pointer));
    }
    return pointers;
}

Format FormatOf(std::string_view text) {
    if (text == "wide") return Format::kWide;
    if (text == "json") return Format::kJson;
    if (text == "jsonl") return Format::kJsonLines;
    return text == "name" ? Format::kName : Format::kTable;
}

TimeFormat TimeFormatOf(std::string_view text, bool terminal) {
    if (text.empty()) return terminal ? TimeFormat::kRelative : TimeFormat::kIso;
    if (text == "relative") return TimeFormat::kRelative;
    return text == "raw" ? TimeFormat::kRaw : TimeFormat::kIso;
}

}  // namespace

std::string Style::Paint(Hue hue, std::string_view text) const {
    return colour ? Painted(hue, text) : std::string(text);
}

std::string Style::PaintError(Hue hue, std::string_view text) const {
    return error_colour ? Painted(hue, text) : std::string(text);
}

std::string Style::Time(const std::string& text) const {
    if (time == TimeFormat::kRaw) return text;
    const auto instant = ParseTime(text);
    if (!instant) return text;
    if (time == TimeFormat::kRelative) return RelativeTime(*instant, now);
    return FormatTime(std::chrono::floor<std::chrono::seconds>(*instant));
}

Style StyleOf(const Arguments& arguments, const Process& process) {
    const bool plain = arguments.Has("no-color") || !VariableOf(process, "NO_COLOR").empty() ||
                       process.terminal.dumb;
    Style style;
    style.format = FormatOf(arguments.Get("output"));
    style.time = TimeFormatOf(arguments.Get("time-format"), process.terminal.out);
    style.fields = PointersOf(arguments.Get("fields"));
    style.colour = process.terminal.out && !plain;
    style.error_colour = process.terminal.err && !plain;
    style.columns = static_cast<std::size_t>(process.terminal.Size().columns);
    style.now = process.clock.Now();
    return style;
}

std::string RelativeTime(TimePoint instant, TimePoint now) {
    struct Unit {
        std::int64_t seconds;
        std::string_view name;
    };
    constexpr std::array<Unit, 5> kUnits = {
        {{365LL * 86400, "y"}, {86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}};
    const bool past = instant <= now;
    const Duration away = past ? now - instant : instant - now;
    std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(away).count();
    if (seconds == 0) return "now";
    std::string text;
    for (std::size_t i = 0; i < kUnits.size(); ++i) {
        if (seconds < kUnits.at(i).seconds) continue;
        const std::int64_t count = seconds / kUnits.at(i).seconds;
        text = fmt::format("{}{}", count, kUnits.at(i).name);
        seconds -= count * kUnits.at(i).seconds;
        // "1h30m", but "3d": a small number of hours or minutes needs a second unit.
        const bool small = count < 10 && i > 1 && i + 1 < kUnits.size();
        if (small && seconds >= kUnits.at(i + 1).seconds) {
            text += fmt::format("{}{}", seconds / kUnits.at(i + 1).seconds, kUnits.at(i + 1).name);
        }
        break;
    }
    return past ? text + " ago" : "in " + text;
}

Hue HueOf(std::string_view state) {
    struct Named {
        std::string_view state;
        Hue hue;
    };
    constexpr std::array<Named, 25> kHues = {{
        {"succeeded", Hue::kGood},  {"ok", Hue::kGood},         {"enabled", Hue::kGood},
        {"finished", Hue::kGood},   {"closed", Hue::kGood},     {"resolved", Hue::kGood},
        {"failed", Hue::kBad},      {"timed_out", Hue::kBad},   {"lost", Hue::kBad},
        {"open", Hue::kBad},        {"not ok", Hue::kBad},      {"error", Hue::kBad},
        {"missed", Hue::kWarn},     {"skipped", Hue::kWarn},    {"held", Hue::kWarn},
        {"cancelled", Hue::kWarn},  {"paused", Hue::kWarn},     {"half_open", Hue::kWarn},
        {"running", Hue::kBusy},    {"completing", Hue::kBusy}, {"queued", Hue::kFaint},
        {"scheduled", Hue::kFaint}, {"delivered", Hue::kGood},  {"pending", Hue::kFaint},
        {"given_up", Hue::kWarn},
    }};
    for (const Named& named : kHues) {
        if (named.state == state) return named.hue;
    }
    return Hue::kNone;
}

}  // namespace ksana::app

#include "ksana/base/duration_text.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace ksana {
namespace {

// Longer than anything sensible; keeps the error text and the work small.
constexpr std::size_t kMaxLength = 64;

// Nanoseconds of any duration we accept, and room to notice one that is too large.
__extension__ using Wide = __int128;

struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
};

constexpr std::array<Unit, 8> kUnits = {{{"h", 3'600'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"\xC2\xB5s", 1'000},  // U+00B5 micro sign, as Go prints
                                         {"\xCE\xBCs", 1'000},  // U+03BC Greek mu, as Go reads
                                         {"ns", 1}}};

// One number with its unit, as nanoseconds: whole * unit + fraction.
struct Part {
    Wide nanoseconds = 0;
    bool exact = true;  // false: the fraction was finer than a nanosecond
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view TakeDigits(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && IsDigit(text[n])) ++n;
    const std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
}

const Unit* TakeUnit(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && !IsDigit(text[n]) && text[n] != '.') ++n;
    const std::string_view name = text.substr(0, n);
    for (const Unit& unit : kUnits) {
        if (unit.name == name) {
            text.remove_prefix(n);
            return &unit;
        }
    }
    return nullptr;
}

std::optional<Part> Multiply(std::string_view whole, std::string_view fraction, const Unit& unit) {
    Part part;
    for (const char digit : whole) {
        part.nanoseconds = part.nanoseconds * 10 + (digit - '0');
        // Far above int64 microseconds already: stop before the 128 bits overflow too.
        if (part.nanoseconds > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    }
    part.nanoseconds *= unit.nanoseconds;
    Wide scale = unit.nanoseconds;
    for (const char digit : fraction) {
        if (digit != '0' && (scale == 0 || scale % 10 != 0)) part.exact = false;
        scale /= 10;
        part.nanoseconds += scale * (digit - '0');
    }
    return part;
}

Error Bad(std::string_view why) {
    return {Code::kInvalidArgument,
            fmt::format("{}; write a duration like \"1h30m\", \"10s\" or \"250ms\"", why)};
}

// Go prints the leading unit and everything below it; we leave out parts that are zero.
std::string FormatPositive(std::uint64_t us) {
    if (us < 1'000) return fmt::format("{}us", us);
    const auto with_fraction = [](std::uint64_t value, std::uint64_t per_unit, int digits,
                                  std::string_view unit) {
        std::string text = fmt::format("{}", value / per_unit);
        if (value % per_unit != 0) {
            std::string fraction = fmt::format("{:0{}}", value % per_unit, digits);
            fraction.erase(fraction.find_last_not_of('0') + 1);
            text += '.' + fraction;
        }
        return text.append(unit);
    };
    if (us < 1'000'000) return with_fraction(us, 1'000, 3, "ms");
    std::string text;
    if (const std::uint64_t hours = us / 3'600'000'000; hours > 0)
        text += fmt::format("{}h", hours);
    if (const std::uint64_t minutes = us / 60'000'000 % 60; minutes > 0) {
        text += fmt::format("{}m", minutes);
    }
    if (us % 60'000'000 != 0) text += with_fraction(us % 60'000'000, 1'000'000, 6, "s");
    return text;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
    if (text.empty()) return Bad("the duration is empty");
    if (text.size() > kMaxLength) return Bad("the duration is too long");
    const bool negative = text.front() == '-';
    if (negative || text.front() == '+') text.remove_prefix(1);
    if (text == "0") return Duration::zero();
    if (text.empty()) return Bad("the duration has a sign and no number");

    Wide total = 0;
    while (!text.empty()) {
        const std::string_view whole = TakeDigits(text);
        std::string_view fraction;
        if (text.starts_with('.')) {
            text.remove_prefix(1);
            fraction = TakeDigits(text);
        }
        if (whole.empty() && fraction.empty()) return Bad("a number is missing in the duration");
        if (text.empty()) return Bad("the duration has a number without a unit");
        const Unit* unit = TakeUnit(text);
        if (unit == nullptr) return Bad("the duration has an unknown unit");
        const std::optional<Part> part = Multiply(whole, fraction, *unit);
        if (!part) return Bad("the duration is too large");
        if (!part->exact) return Bad("the duration is finer than a microsecond");
        total += part->nanoseconds;
    }
    if (total % 1'000 != 0) return Bad("the duration is finer than a microsecond");
    total = total / 1'000 * (negative ? -1 : 1);
    // Signed first: the most negative value has no positive counterpart.
    if (total > std::numeric_limits<std::int64_t>::max() ||
        total < std::numeric_limits<std::int64_t>::min()) {
        return Bad("the duration is too large");
    }
    return Duration(static_cast<std::int64_t>(total));
}

std::string FormatDuration(Duration duration) {
    const std::int64_t us = duration.count();
    if (us == 0) return "0s";
    // Through unsigned, so that the most negative value has a magnitude too.
    const std::uint64_t magnitude =
        us < 0 ? 0 - static_cast<std::uint64_t>(us) : static_cast<std::uint64_t>(us);
    return (us < 0 ? "-" : "") + FormatPositive(magnitude);
}

}  // namespace ksana

#include "ksana/exec/retry_after.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace ksana::exec {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// All of it must be digits.
std::optional<int> Number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !IsDigit(text.front())) {
        return std::nullopt;
    }
    return number;
}

std::optional<unsigned> Month(std::string_view name) {
    constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto found = std::ranges::find(kMonths, name);
    if (found == kMonths.end()) return std::nullopt;
    return static_cast<unsigned>(found - kMonths.begin()) + 1;
}

// RFC 9110, IMF-fixdate: every part has its place.
std::optional<TimePoint> ParseDate(std::string_view text) {
    constexpr std::string_view kShape = "ddd, 00 mmm 0000 00:00:00 GMT";
    if (text.size() != kShape.size() || text.substr(25) != " GMT" || text[19] != ':' ||
        text[22] != ':' || text[3] != ',') {
        return std::nullopt;
    }
    const auto day = Number(text.substr(5, 2));
    const auto month = Month(text.substr(8, 3));
    const auto year = Number(text.substr(12, 4));
    const auto hour = Number(text.substr(17, 2));
    const auto minute = Number(text.substr(20, 2));
    const auto second = Number(text.substr(23, 2));
    if (!day || !month || !year || !hour || !minute || !second) return std::nullopt;
    const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(*month),
                                           std::chrono::day(static_cast<unsigned>(*day)));
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
           std::chrono::seconds(*second);
}

}  // namespace

std::optional<Duration> ParseRetryAfter(std::string_view text, TimePoint now) {
    if (text.empty()) return std::nullopt;
    if (std::ranges::all_of(text, IsDigit)) {
        // A number too long to read is a long wait, too.
        const auto seconds = Number(text);
        if (!seconds) return kMaxRetryAfter;
        return std::min<Duration>(std::chrono::seconds(*seconds), kMaxRetryAfter);
    }
    const auto date = ParseDate(text);
    if (!date) return std::nullopt;
    return std::clamp<Duration>(*date - now, Duration::zero(), kMaxRetryAfter);
}

}  // namespace ksana::exec

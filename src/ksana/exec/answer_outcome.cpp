#include "ksana/exec/answer_outcome.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::exec {
namespace {

using http_client::CallAnswer;
using http_client::CallError;
using http_client::FindHeader;
using model::EventKind;

constexpr std::size_t kMaxErrorText = 1000;

// A byte of a body takes at most six bytes in a JSON string. The rest of a detail is small.
static_assert(kMaxResult <= store::kMaxPayload && kMaxErrorText <= store::kMaxPayload);
static_assert(6 * kMaxKeptBody + 1024 <= store::kMaxPayload);

// Returns the size of the UTF-8 character at the front; 0: not well-formed.
std::size_t CharacterSize(std::string_view text) {
    for (std::size_t size = 1; size <= std::min<std::size_t>(4, text.size()); ++size) {
        if (IsUtf8(text.substr(0, size))) return size;
    }
    return 0;
}

bool IsNotPlain(char c) { return c == '\0' || static_cast<unsigned char>(c) >= 0x80; }

EventKind KindOf(const CallAnswer& answer) {
    switch (answer.error) {
        case CallError::kNone:
            break;
        case CallError::kTimeout:
            return EventKind::kTimeout;
        case CallError::kEgressRefused:
        case CallError::kTooManyRedirects:
            return EventKind::kPermanentFailure;
        case CallError::kCancelled:
            return EventKind::kCancelled;
        case CallError::kDns:
        case CallError::kConnect:
        case CallError::kTls:
        case CallError::kProtocol:
        case CallError::kOther:
            return EventKind::kRetryableFailure;
    }
    const EventKind kind = model::OutcomeOfHttpStatus(answer.status);
    const std::string* retry = FindHeader(answer.headers, "ksana-retry");
    const bool never = retry != nullptr && (*retry == "no" || *retry == "No" || *retry == "NO");
    return kind == EventKind::kRetryableFailure && never ? EventKind::kPermanentFailure : kind;
}

// Returns whether the target is reachable. A timeout after connecting is no evidence either way:
// the job's timeout may be too short. Gateways answer 502, 503 and 504 for targets that are down,
// and targets that are busy answer 503: neither says anything about other paths of the host.
model::TargetHealth TargetHealthOf(const CallAnswer& answer) {
    const bool connected = answer.reused || answer.timings.connect > Duration::zero();
    switch (answer.error) {
        case CallError::kDns:
        case CallError::kConnect:
        case CallError::kTls:
            return model::TargetHealth::kDown;
        case CallError::kTimeout:
            return connected ? model::TargetHealth::kNone : model::TargetHealth::kDown;
        case CallError::kNone:
            break;
        default:
            return model::TargetHealth::kNone;
    }
    const bool gateway = answer.status == 502 || answer.status == 503 || answer.status == 504;
    return gateway ? model::TargetHealth::kUnavailable : model::TargetHealth::kAnswered;
}

std::string ErrorOf(const CallAnswer& answer, const CallContext& context) {
    if (answer.error == CallError::kNone) {
        return fmt::format("HTTP {} from {}", answer.status, context.target);
    }
    if (answer.error != CallError::kTimeout) return answer.error_text;
    const bool connected = answer.timings.connect > Duration::zero();
    const Duration most =
        connected ? context.timeout : std::min(context.connect_timeout, context.timeout);
    return fmt::format("{} within {}", answer.error_text, FormatDuration(most));
}

std::string ResultOf(const CallAnswer& answer) {
    const bool fits = !answer.body_truncated && !answer.body.empty() &&
                      answer.body.size() <= kMaxResult &&
                      answer.body.find('\0') == std::string::npos;
    return fits && codec::IsJson(answer.body) ? answer.body : "";
}

// Writes "0.234" without floating-point formatting, which would cost as much as the rest of a
// detail.
void WriteMilliseconds(JsonOutput& detail, std::string_view name, Duration duration) {
    const auto us = std::max<std::int64_t>(0, duration.count());
    const std::string fraction = std::to_string(us % 1000);
    std::string text = std::to_string(us / 1000);
    text += '.';
    text.append(3 - fraction.size(), '0');
    text += fraction;
    detail.Key(name);
    detail.Raw(text);
}

void WriteTimings(JsonOutput& detail, const http_client::CallTimings& timings) {
    detail.Key("timings");
    detail.BeginObject();
    WriteMilliseconds(detail, "dns_ms", timings.dns);
    WriteMilliseconds(detail, "connect_ms", timings.connect);
    WriteMilliseconds(detail, "tls_ms", timings.tls);
    WriteMilliseconds(detail, "first_byte_ms", timings.first_byte);
    WriteMilliseconds(detail, "total_ms", timings.total);
    detail.EndObject();
}

std::string DetailOf(const CallAnswer& answer, const CallContext& context) {
    JsonOutput detail;
    detail.BeginObject();
    if (answer.status != 0) {
        detail.Key("status");
        detail.Int(answer.status);
    }
    if (answer.error != CallError::kNone) detail.TextMember("error_kind", NameOf(answer.error));
    detail.TextMember("remote", answer.remote);
    WriteTimings(detail, answer.timings);
    if (answer.status != 0) {
        detail.TextMember("body", HarmlessText(answer.body, kMaxKeptBody));
        detail.Key("body_truncated");
        detail.Bool(answer.body_truncated || answer.body.size() > kMaxKeptBody);
    }
    detail.TextMember("trace_id", context.trace_id);
    detail.EndObject();
    return detail.Take();
}

}  // namespace

std::string HarmlessText(std::string_view bytes, std::size_t max_bytes) {
    constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
    std::string text;
    while (!bytes.empty()) {
        // Most text is plain ASCII, which is copied in one piece.
        const auto plain =
            static_cast<std::size_t>(std::ranges::find_if(bytes, IsNotPlain) - bytes.begin());
        if (plain > 0) {
            text += bytes.substr(0, std::min(plain, max_bytes - text.size()));
            if (text.size() == max_bytes) break;
            bytes.remove_prefix(plain);
            continue;
        }
        const std::size_t size = CharacterSize(bytes);
        const bool harmless = size > 0 && bytes.front() != '\0';
        const std::string_view next = harmless ? bytes.substr(0, size) : kReplacement;
        if (text.size() + next.size() > max_bytes) break;
        text += next;
        bytes.remove_prefix(std::max<std::size_t>(1, size));
    }
    return text;
}

std::string TargetOf(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
    return std::string(url.substr(0, url.find_first_of("/?#")));
}

model::Event OutcomeOf(const CallAnswer& answer, const CallContext& context, TimePoint now) {
    model::Event event;
    event.kind = KindOf(answer);
    event.detail = DetailOf(answer, context);
    event.target = TargetHealthOf(answer);
    if (event.kind == EventKind::kSuccess) {
        event.result = ResultOf(answer);
        return event;
    }
    event.error = HarmlessText(ErrorOf(answer, context), kMaxErrorText);
    if (event.kind == EventKind::kRetryableFailure && answer.error == CallError::kNone) {
        const std::string* after = FindHeader(answer.headers, "retry-after");
        if (after != nullptr) event.after = ParseRetryAfter(*after, now);
    }
    return event;
}

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the number, or nothing unless all characters are digits.
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

// Parses an IMF-fixdate (RFC 9110), in which every part has a fixed position.
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
        // A number with too many digits is a long wait as well.
        const auto seconds = Number(text);
        if (!seconds) return kMaxRetryAfter;
        return std::min<Duration>(std::chrono::seconds(*seconds), kMaxRetryAfter);
    }
    const auto date = ParseDate(text);
    if (!date) return std::nullopt;
    return std::clamp<Duration>(*date - now, Duration::zero(), kMaxRetryAfter);
}

}  // namespace ksana::exec

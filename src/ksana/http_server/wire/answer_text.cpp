#include "ksana/http_server/wire/answer_text.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <iterator>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/number_text.hpp"
#include "ksana/http_server/wire/http_text.hpp"

namespace ksana::http_server {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void AppendField(std::string& out, std::string_view name, std::string_view value) {
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
}

// Returns whether only the server may set the field: it says where an answer ends.
bool IsOurs(std::string_view name) {
    return SameIgnoringCase(name, "Content-Length") ||
           SameIgnoringCase(name, "Transfer-Encoding") || SameIgnoringCase(name, "Connection");
}

// Returns whether the handler has set Cache-Control.
bool AppendExtraFields(std::string& out, const AnswerFrame& frame, const Response& response) {
    bool cache_control = false;
    for (const auto& [name, value] : response.headers) {
        if (!IsToken(name) || !IsFieldValue(value) || IsOurs(name)) {
            Log(LogLevel::kError, "an answer's header field was left out: it is malformed",
                {{"field", name}, {"request_id", frame.request_id}});
            continue;
        }
        cache_control = cache_control || SameIgnoringCase(name, "Cache-Control");
        AppendField(out, name, value);
    }
    return cache_control;
}

}  // namespace

void AppendAnswer(std::string& out, const AnswerFrame& frame, const Response& response) {
    const bool never_body = response.status == 204 || response.status == 304;
    out.reserve(out.size() + 320 + response.body.size());
    out += "HTTP/1.1 ";
    AppendNumber(out, static_cast<std::size_t>(response.status));
    out += ' ';
    out += ReasonPhrase(response.status);
    out += "\r\n";
    AppendField(out, "Date", frame.date);
    if (!response.content_type.empty() && IsFieldValue(response.content_type)) {
        AppendField(out, "Content-Type", response.content_type);
    }
    if (frame.endless) {
        if (frame.minor_version > 0) AppendField(out, "Transfer-Encoding", "chunked");
    } else if (!never_body) {
        out += "Content-Length: ";
        AppendNumber(out, response.body.size());
        out += "\r\n";
    }
    AppendField(out, "X-Request-Id", frame.request_id);
    AppendField(out, "X-Content-Type-Options", "nosniff");
    if (frame.more != nullptr) {
        for (const auto& [name, value] : *frame.more) AppendField(out, name, value);
    }
    if (!AppendExtraFields(out, frame, response)) AppendField(out, "Cache-Control", "no-store");
    if (!frame.keep_alive) {
        AppendField(out, "Connection", "close");
    } else if (frame.minor_version == 0) {
        AppendField(out, "Connection", "keep-alive");
    }
    out += "\r\n";
    if (!never_body && !frame.without_body && !frame.endless) out += response.body;
}

std::string HttpDate(TimePoint instant) {
    const auto days = std::chrono::floor<std::chrono::days>(instant);
    const std::chrono::year_month_day date(days);
    const std::chrono::weekday weekday(days);
    const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(instant - days));
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays.at(weekday.c_encoding()),
                       static_cast<unsigned>(date.day()),
                       kMonths.at(static_cast<unsigned>(date.month()) - 1),
                       static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                       time.seconds().count());
}

}  // namespace ksana::http_server

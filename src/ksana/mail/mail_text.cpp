#include "ksana/mail/mail_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace ksana::mail {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kLine = 57;  // input bytes of a line of 76 characters
// Input bytes of an encoded word, well below its limit of 75 characters.
constexpr std::size_t kWord = 30;

std::string Base64(std::string_view bytes) {
    std::string text;
    for (std::size_t n = 0; n < bytes.size(); n += 3) {
        std::uint32_t bits = 0;
        const std::size_t some = std::min<std::size_t>(3, bytes.size() - n);
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8U | (i < some ? static_cast<unsigned char>(bytes[n + i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += i <= some ? kAlphabet[bits >> (18 - 6 * i) & 0x3FU] : '=';
        }
    }
    return text;
}

bool IsPlain(std::string_view text) {
    for (const char c : text) {
        if (c < ' ' || c >= 0x7f) return false;
    }
    return text.size() <= 70;
}

// Returns the length of the longest prefix of at most `most` bytes that ends between characters.
std::size_t CutAt(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text.size();
    while (most > 1 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    return most;
}

// Encodes text that is not plain ASCII as encoded words (RFC 2047).
std::string HeaderText(std::string_view text) {
    if (IsPlain(text)) return std::string(text);
    std::string encoded;
    while (!text.empty()) {
        const std::size_t size = CutAt(text, kWord);
        if (!encoded.empty()) encoded += "\r\n ";
        encoded += fmt::format("=?UTF-8?B?{}?=", Base64(text.substr(0, size)));
        text.remove_prefix(size);
    }
    return encoded;
}

// "Mon, 02 Mar 2026 08:00:00 +0000"
std::string DateText(TimePoint at) {
    constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
    constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto days = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(days);
    const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(at - days));
    return fmt::format(
        "{}, {:02} {} {:04} {:02}:{:02}:{:02} +0000",
        kDays.at(std::chrono::weekday(days).c_encoding()), static_cast<unsigned>(date.day()),
        kMonths.at(static_cast<unsigned>(date.month()) - 1), static_cast<int>(date.year()),
        time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace

std::string MessageIdOf(const Mail& mail, const std::string& from) {
    const std::size_t at = from.find('@');
    const std::string domain = at == std::string::npos ? "localhost" : from.substr(at + 1);
    return fmt::format("<{}@{}>", mail.id, domain);
}

std::string MailToText(const Mail& mail, const std::string& from) {
    std::string text = fmt::format(
        "Date: {}\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: {}\r\n"
        "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Transfer-Encoding: base64\r\nAuto-Submitted: auto-generated\r\n\r\n",
        DateText(mail.at), from, fmt::join(mail.to, ",\r\n "), HeaderText(mail.subject),
        MessageIdOf(mail, from));
    for (std::string_view rest = mail.text; !rest.empty();) {
        text += Base64(rest.substr(0, kLine)) + "\r\n";
        rest.remove_prefix(std::min(kLine, rest.size()));
    }
    return text;
}

}  // namespace ksana::mail

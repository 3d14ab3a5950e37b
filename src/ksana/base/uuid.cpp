#include "ksana/base/uuid.hpp"

#include <span>

namespace ksana {
namespace {

constexpr std::uint32_t kCounterLimit = 1U << 12U;
// A new millisecond starts its counter low, so that there is room to count up within it.
constexpr std::uint32_t kCounterStartLimit = 1U << 9U;

int HexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool IsDashPosition(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

std::string Uuid::ToString() const {
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string text(36, '-');
    std::size_t at = 0;
    for (const std::uint8_t byte : bytes) {
        if (IsDashPosition(at)) ++at;
        text[at++] = kHex[byte >> 4U];
        text[at++] = kHex[byte & 0xFU];
    }
    return text;
}

std::optional<Uuid> Uuid::Parse(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    Uuid id;
    std::size_t nibble = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (IsDashPosition(i)) {
            if (text[i] != '-') return std::nullopt;
            continue;
        }
        const int digit = HexDigit(text[i]);
        if (digit < 0) return std::nullopt;
        std::uint8_t& byte = id.bytes.at(nibble / 2);
        byte = static_cast<std::uint8_t>((byte << 4) | digit);
        ++nibble;
    }
    return id;
}

Uuid UuidGenerator::Next() {
    const std::lock_guard lock(mutex_);
    const std::int64_t now_ms =
        std::chrono::floor<std::chrono::milliseconds>(clock_.Now()).time_since_epoch().count();
    if (now_ms > last_ms_) {
        last_ms_ = now_ms;
        counter_ = static_cast<std::uint32_t>(random_.Below(kCounterStartLimit));
    } else if (++counter_ == kCounterLimit) {
        // More ids than a millisecond holds: borrow the next one.
        ++last_ms_;
        counter_ = 0;
    }

    Uuid id;
    for (std::size_t i = 0; i < 6; ++i) {
        id.bytes.at(i) = static_cast<std::uint8_t>(last_ms_ >> (40 - 8 * static_cast<int>(i)));
    }
    id.bytes[6] = static_cast<std::uint8_t>(0x70U | (counter_ >> 8U));
    id.bytes[7] = static_cast<std::uint8_t>(counter_);
    random_.Fill(std::span(id.bytes).subspan(8));
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3FU) | 0x80U);
    return id;
}

}  // namespace ksana

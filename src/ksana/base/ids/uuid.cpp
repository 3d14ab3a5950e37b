#include "ksana/base/ids/uuid.hpp"

#include <span>

namespace ksana {
namespace {

constexpr std::uint32_t kCounterLimit = 1U << 12U;
// The counter starts low in a new millisecond, to leave room for counting up within it.
constexpr std::uint32_t kCounterStartLimit = 1U << 9U;

constexpr std::uint8_t kRandomVersion = 4;
constexpr std::uint8_t kTimeVersion = 7;

constexpr std::uint8_t kCapital = 0x10;
constexpr std::uint8_t kNoDigit = 0xFF;

// Table lookup instead of branches, because ids are parsed and formatted with every start and
// report. Capital letters have the bit kCapital set beside their value.
constexpr std::array<std::uint8_t, 256> kHexDigits = [] {
    std::array<std::uint8_t, 256> digits{};
    digits.fill(kNoDigit);
    for (std::uint8_t i = 0; i < 10; ++i) digits.at('0' + i) = i;
    for (std::uint8_t i = 0; i < 6; ++i) {
        digits.at('a' + i) = static_cast<std::uint8_t>(10 + i);
        digits.at('A' + i) = static_cast<std::uint8_t>(kCapital | (10 + i));
    }
    return digits;
}();

// Positions of each byte's two digits.
constexpr std::array<std::size_t, 16> kPlaces = {0,  2,  4,  6,  9,  11, 14, 16,
                                                 19, 21, 24, 26, 28, 30, 32, 34};

// Sets the version and the variant of RFC 9562.
void Mark(Uuid& id, std::uint8_t version) {
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0xFU) | (version << 4U));
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3FU) | 0x80U);
}

// `allowed`: the bits that digits may have beside their values.
std::optional<Uuid> ParseDigits(std::string_view text, std::uint8_t allowed) {
    if (text.size() != 36) return std::nullopt;
    if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') {
        return std::nullopt;
    }
    Uuid id;
    std::uint8_t seen = 0;
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        const std::uint8_t high = kHexDigits[static_cast<std::uint8_t>(text[kPlaces[i]])];
        const std::uint8_t low = kHexDigits[static_cast<std::uint8_t>(text[kPlaces[i] + 1])];
        seen |= high | low;
        id.bytes[i] = static_cast<std::uint8_t>((high << 4U) | (low & 0xFU));
    }
    if ((seen & 0xF0U & ~static_cast<unsigned>(allowed)) != 0) return std::nullopt;
    return id;
}

}  // namespace

std::string Uuid::ToString() const {
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string text(36, '-');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        text[kPlaces[i]] = kHex[bytes[i] >> 4U];
        text[kPlaces[i] + 1] = kHex[bytes[i] & 0xFU];
    }
    return text;
}

std::optional<Uuid> Uuid::Parse(std::string_view text) { return ParseDigits(text, kCapital); }

std::optional<Uuid> Uuid::ParseExact(std::string_view text) { return ParseDigits(text, 0); }

std::optional<std::int64_t> Uuid::MadeAtMs() const {
    if (bytes[6] >> 4U != kTimeVersion) return std::nullopt;
    std::int64_t milliseconds = 0;
    for (std::size_t i = 0; i < 6; ++i) milliseconds = (milliseconds << 8U) | bytes.at(i);
    return milliseconds;
}

Uuid RandomUuid(Random& random) {
    Uuid id;
    random.Fill(id.bytes);
    Mark(id, kRandomVersion);
    return id;
}

Uuid UuidGenerator::Next() {
    const MutexLock lock(mutex_);
    const std::int64_t now_ms =
        std::chrono::floor<std::chrono::milliseconds>(clock_.Now()).time_since_epoch().count();
    if (now_ms > last_ms_) {
        last_ms_ = now_ms;
        counter_ = static_cast<std::uint32_t>(random_.Below(kCounterStartLimit));
    } else if (++counter_ == kCounterLimit) {
        // More ids than fit into a millisecond: borrow from the next one.
        ++last_ms_;
        counter_ = 0;
    }

    Uuid id;
    for (std::size_t i = 0; i < 6; ++i) {
        id.bytes.at(i) = static_cast<std::uint8_t>(last_ms_ >> (40 - 8 * static_cast<int>(i)));
    }
    id.bytes[6] = static_cast<std::uint8_t>(counter_ >> 8U);
    id.bytes[7] = static_cast<std::uint8_t>(counter_);
    random_.Fill(std::span(id.bytes).subspan(8));
    Mark(id, kTimeVersion);
    return id;
}

}  // namespace ksana

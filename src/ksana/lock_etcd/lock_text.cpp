#include "ksana/lock_etcd/lock_text.hpp"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <charconv>
#include <limits>
#include <vector>

namespace ksana::lock_etcd {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kStampSize = 20;

Bytes BytesOf(std::string_view text) { return {text.begin(), text.end()}; }

template <class T>
std::optional<T> ParseWhole(std::string_view text) {
    T number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace

std::string ToBase64(std::string_view bytes) {
    Bytes text((bytes.size() + 2) / 3 * 4 + 1);  // with a NUL at the end
    const int size =
        EVP_EncodeBlock(text.data(), BytesOf(bytes).data(), static_cast<int>(bytes.size()));
    return {text.begin(), text.begin() + size};
}

std::optional<std::string> FromBase64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    Bytes bytes(text.size() / 4 * 3);
    if (EVP_DecodeBlock(bytes.data(), BytesOf(text).data(), static_cast<int>(text.size())) < 0) {
        return std::nullopt;
    }
    // The padding is decoded as zeros.
    for (std::size_t n = 0; n < 2 && text.ends_with('='); ++n) {
        text.remove_suffix(1);
        bytes.pop_back();
    }
    return std::string(bytes.begin(), bytes.end());
}

std::string StampKey(std::string_view key) {
    std::string made(key);
    made += '\0';
    return made + "stamp";
}

std::string StampText(std::int64_t stamp) {
    // '-' comes before the digits. A negative number is written as its distance from the least.
    return stamp < 0 ? fmt::format("-{:019}", stamp - kLeast) : fmt::format("{:020}", stamp);
}

std::optional<std::int64_t> ParseStamp(std::string_view text) {
    if (text.size() != kStampSize) return std::nullopt;
    const bool negative = text.front() == '-';
    const auto number = ParseWhole<std::int64_t>(text.substr(1));
    if (!number || *number < 0 || (!negative && text.front() != '0')) return std::nullopt;
    return negative ? kLeast + *number : *number;
}

std::string HoldingText(const Holding& holding) {
    return fmt::format("{}{}:{}", holding.add_revision ? '+' : '=', holding.number, holding.token);
}

std::optional<Holding> ParseHolding(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || (text[0] != '+' && text[0] != '=')) return std::nullopt;
    const auto number = ParseFenceNumber(text.substr(1, colon - 1));
    if (!number) return std::nullopt;
    return Holding{.token = std::string(text.substr(colon + 1)),
                   .number = *number,
                   .add_revision = text[0] == '+'};
}

std::optional<std::int64_t> ParseFenceNumber(std::string_view text) {
    const auto number = ParseWhole<std::int64_t>(text);
    if (!number || *number < 0 || *number > kLargestFence) return std::nullopt;
    return number;
}

}  // namespace ksana::lock_etcd

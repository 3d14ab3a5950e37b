#include "ksana/api_v1/seal.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdint>

#include "ksana/base/check.hpp"

namespace ksana::api_v1 {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

// OpenSSL counts bytes as unsigned characters.
const unsigned char* BytesOf(std::string_view text) {
    return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

std::string TextOf(const Digest& digest, unsigned size) {
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += static_cast<char>(digest.at(i));
    return text;
}

}  // namespace

std::string Sha256(std::string_view text) {
    Digest digest{};
    unsigned size = 0;
    KSANA_CHECK(
        EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
        "SHA-256 failed");
    std::string hex;
    for (unsigned i = 0; i < size; ++i) {
        hex += kHexDigits[digest.at(i) >> 4U];
        hex += kHexDigits[digest.at(i) & 0xFU];
    }
    return hex;
}

std::string HmacSha256(std::string_view key, std::string_view text) {
    Digest digest{};
    unsigned size = 0;
    KSANA_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), BytesOf(text),
                     text.size(), digest.data(), &size) != nullptr,
                "HMAC failed");
    return TextOf(digest, size);
}

bool SameBytes(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    }
    return different == 0;
}

std::string ToBase64Url(std::string_view bytes) {
    std::string text;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 0x3FU];
    }
    if (count > 0) text += kAlphabet[bits << (6 - count) & 0x3FU];
    return text;
}

std::optional<std::string> FromBase64Url(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const std::size_t value = kAlphabet.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xFFU);
    }
    if (ToBase64Url(bytes) != text) return std::nullopt;  // there is one text for some bytes
    return bytes;
}

}  // namespace ksana::api_v1

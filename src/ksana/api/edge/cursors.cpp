#include "ksana/api/edge/cursors.hpp"

#include <array>
#include <cstdint>
#include <memory>

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "ksana/base/error/check.hpp"
#include "ksana/codec/json/json_text.hpp"

namespace ksana::api {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

// OpenSSL takes bytes as unsigned char.
const unsigned char* BytesOf(std::string_view text) {
    return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

std::string TextOf(const Digest& digest, unsigned size) {
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += static_cast<char>(digest.at(i));
    return text;
}

}  // namespace

std::string Sha256(std::string_view text) { return Sha256(std::span(&text, 1)); }

std::string Sha256(std::span<const std::string_view> parts) {
    Digest digest{};
    unsigned size = 0;
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    bool well = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
    for (const std::string_view part : parts) {
        well = well && EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
    }
    well = well && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
    KSANA_CHECK(well, "SHA-256 failed");
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
    if (ToBase64Url(bytes) != text) return std::nullopt;  // bytes have one text only
    return bytes;
}

namespace {

// A sealed cursor is the version, the signature and the store's cursor.
constexpr char kVersion = 1;
constexpr std::size_t kSignatureSize = 16;
constexpr std::string_view kDocument = "api_v1/cursor_key";

Error BadCursor() {
    return Error(std::vector<Problem>{
        {"/query/cursor", "is not a cursor of this list, filter and order", "bad_cursor", {}}});
}

std::string Signature(std::string_view key, std::string_view scope, std::string_view cursor) {
    // The length of `scope` keeps two splits of the same text from having the same signature.
    return HmacSha256(key, fmt::format("{}:{}:{}{}", static_cast<int>(kVersion), scope.size(),
                                       scope, cursor))
        .substr(0, kSignatureSize);
}

}  // namespace

Result<std::string> Cursors::Seal(std::string_view scope, std::string_view cursor) {
    KSANA_TRY(const std::string key, Key());
    std::string bytes(1, kVersion);
    bytes += Signature(key, scope, cursor);
    bytes += cursor;
    return ToBase64Url(bytes);
}

Result<std::string> Cursors::Open(std::string_view scope, std::string_view text) {
    if (text.empty()) return std::string();
    const auto bytes = FromBase64Url(text);
    if (!bytes || bytes->size() <= 1 + kSignatureSize || bytes->front() != kVersion) {
        return BadCursor();
    }
    KSANA_TRY(const std::string key, Key());
    std::string cursor = bytes->substr(1 + kSignatureSize);
    if (!SameBytes(bytes->substr(1, kSignatureSize), Signature(key, scope, cursor))) {
        return BadCursor();
    }
    return cursor;
}

Result<std::string> Cursors::Key() {
    const MutexLock lock(mutex_);
    if (!key_.empty()) return key_;
    auto key = ReadKey();
    if (!key && key.error().code == Code::kNotFound) {
        std::array<std::uint8_t, 32> fresh{};
        random_.Fill(fresh);
        const std::string text = ToBase64Url(std::string(fresh.begin(), fresh.end()));
        const auto put = store_.settings().Put({.key = std::string(kDocument),
                                                .value = codec::QuoteJson(text),
                                                .expected = 0,
                                                .expires_at = {}});
        // Another node may have stored a key first: then that key is used.
        if (!put && put.error().code != Code::kAlreadyExists) return put.error();
        key = ReadKey();
    }
    KSANA_TRY(key_, std::move(key));
    return key_;
}

// Returns the stored document, a JSON string. Its quotes are part of the key, which does no harm.
Result<std::string> Cursors::ReadKey() {
    KSANA_TRY(model::Document document, store_.settings().Get(std::string(kDocument)));
    return std::move(document.body);
}

}  // namespace ksana::api

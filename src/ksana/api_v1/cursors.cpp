#include "ksana/api_v1/cursors.hpp"

#include <fmt/core.h>

#include <array>

#include "ksana/api_v1/seal.hpp"
#include "ksana/codec/json_text.hpp"

namespace ksana::api_v1 {
namespace {

// A cursor is the version, the signature, and what the store said.
constexpr char kVersion = 1;
constexpr std::size_t kSignatureSize = 16;
constexpr std::string_view kDocument = "api_v1/cursor_key";

Error BadCursor() {
    return Error(std::vector<Problem>{
        {"/query/cursor", "is not a cursor of this list, filter and order", "bad_cursor", {}}});
}

std::string Signature(std::string_view key, std::string_view scope, std::string_view cursor) {
    // The length keeps one text from passing for another that is cut elsewhere.
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
    const std::lock_guard lock(mutex_);
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
        // Another node may have been faster: then it is that one's.
        if (!put && put.error().code != Code::kAlreadyExists) return put.error();
        key = ReadKey();
    }
    KSANA_TRY(key_, std::move(key));
    return key_;
}

// The document is the JSON string itself: its quotes are part of the key, and do no harm.
Result<std::string> Cursors::ReadKey() {
    KSANA_TRY(model::Document document, store_.settings().Get(std::string(kDocument)));
    return std::move(document.body);
}

}  // namespace ksana::api_v1

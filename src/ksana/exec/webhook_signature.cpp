#include "ksana/exec/webhook_signature.hpp"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <optional>

#include "ksana/base/error/check.hpp"

namespace ksana::exec {
namespace {

using Bytes = std::vector<unsigned char>;

const unsigned char* BytesOf(std::string_view text) {
    return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

std::string TextOf(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

std::string ToBase64(const Bytes& bytes) {
    Bytes text((bytes.size() + 2) / 3 * 4 + 1);
    EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()));
    text.pop_back();  // the NUL at the end
    return TextOf(text);
}

// Returns nothing if the text is not base64.
std::optional<std::string> FromBase64(std::string_view text) {
    if (text.empty() || text.size() % 4 != 0) return std::nullopt;
    Bytes bytes(text.size() / 4 * 3);
    if (EVP_DecodeBlock(bytes.data(), BytesOf(text), static_cast<int>(text.size())) < 0) {
        return std::nullopt;
    }
    for (std::size_t n = 0; n < 2 && text.ends_with('='); ++n) {
        text.remove_suffix(1);
        bytes.pop_back();
    }
    return TextOf(bytes);
}

std::string KeyOf(const std::string& secret) {
    constexpr std::string_view kPrefix = "whsec_";
    if (!secret.starts_with(kPrefix)) return secret;
    return FromBase64(std::string_view(secret).substr(kPrefix.size())).value_or(secret);
}

std::string Signature(const std::string& secret, std::string_view content) {
    const std::string key = KeyOf(secret);
    Bytes digest(EVP_MAX_MD_SIZE);
    unsigned size = 0;
    KSANA_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), BytesOf(content),
                     content.size(), digest.data(), &size) != nullptr,
                "HMAC failed");
    digest.resize(size);
    return "v1," + ToBase64(digest);
}

std::string Signatures(const std::vector<std::string>& secrets, std::string_view content) {
    std::string signatures;
    for (const std::string& secret : secrets) {
        if (!signatures.empty()) signatures += ' ';
        signatures += Signature(secret, content);
    }
    return signatures;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> WebhookHeaders(const Webhook& webhook) {
    const auto since = std::chrono::floor<std::chrono::seconds>(webhook.at.time_since_epoch());
    const std::string timestamp = std::to_string(since.count());
    std::vector<std::pair<std::string, std::string>> headers = {
        {"webhook-id", std::string(webhook.id)}, {"webhook-timestamp", timestamp}};
    if (webhook.secrets.empty()) return headers;
    headers.emplace_back(
        "webhook-signature",
        Signatures(webhook.secrets, fmt::format("{}.{}.{}", webhook.id, timestamp, webhook.body)));
    headers.emplace_back(
        "Ksana-Signature",
        Signatures(webhook.secrets,
                   fmt::format("{}\n{}\n{}\n{}\n{}\n{}", webhook.id, timestamp, webhook.run_id,
                               webhook.attempt, webhook.scheduled_at, webhook.body)));
    if (!webhook.access_key.empty()) {
        headers.emplace_back("Ksana-Access-Key", std::string(webhook.access_key));
    }
    return headers;
}

}  // namespace ksana::exec

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ksana::api_v1 {

// SHA-256 as 64 hexadecimal digits.
std::string Sha256(std::string_view text);
// HMAC-SHA256 as 32 bytes.
std::string HmacSha256(std::string_view key, std::string_view text);

// Takes as long wherever they differ.
bool SameBytes(std::string_view a, std::string_view b);

// Base64 with the alphabet of URLs, without padding (RFC 4648, 5).
std::string ToBase64Url(std::string_view bytes);
// Nothing for a text that ToBase64Url does not make.
std::optional<std::string> FromBase64Url(std::string_view text);

}  // namespace ksana::api_v1

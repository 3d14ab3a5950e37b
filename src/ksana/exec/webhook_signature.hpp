#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::exec {

// A message that its receiver may check (T-11).
struct Webhook {
    std::string_view id;  // the same however often it is sent
    TimePoint at{};
    std::string_view body;
    std::string_view access_key;              // may be empty
    const std::vector<std::string>& secrets;  // none: it is not signed
};

// The headers of Standard Webhooks: webhook-id and webhook-timestamp, and where there are secrets
// webhook-signature, "v1,BASE64" of HMAC-SHA256 over "id.timestamp.body" for each of them, and
// Ksana-Access-Key. A secret that begins with whsec_ is base64 of the key, as that standard writes
// it; any other is the key itself.
std::vector<std::pair<std::string, std::string>> WebhookHeaders(const Webhook& webhook);

}  // namespace ksana::exec

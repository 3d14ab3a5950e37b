#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::exec {

// A message whose receiver can verify its origin (T-11).
struct Webhook {
    std::string_view id;  // stays the same over repeated deliveries
    TimePoint at{};
    std::string_view body;
    std::string_view access_key;              // may be empty
    const std::vector<std::string>& secrets;  // empty: the message is not signed
    // What the message is about, as its headers Ksana-Run-Id, Ksana-Attempt and Ksana-Scheduled-At
    // have it.
    std::string_view run_id;
    std::int32_t attempt = 0;
    std::string_view scheduled_at;
};

// Returns the headers of Standard Webhooks: webhook-id and webhook-timestamp, and with secrets also
// webhook-signature, which holds "v1,BASE64" of HMAC-SHA256 over "id.timestamp.body" for each
// secret, and Ksana-Access-Key. A secret that starts with whsec_ is the base64 of the key, as in
// that standard; any other secret is the key itself.
//
// Ksana-Signature is made in the same way over six lines: id, timestamp, run_id, attempt,
// scheduled_at and body. No header has a line break in it, so that no two messages have the same
// text.
std::vector<std::pair<std::string, std::string>> WebhookHeaders(const Webhook& webhook);

}  // namespace ksana::exec

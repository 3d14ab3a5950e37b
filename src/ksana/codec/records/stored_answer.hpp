#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::codec {

// What is kept about a request that carries an Idempotency-Key, and its answer when there is one.
struct StoredAnswer {
    std::string request;      // a hash of it: the same key must come with the same request
    Uuid id;                  // of what it makes, drawn before: made twice, it is the same
    TimePoint until{};        // somebody is at it until then; not looked at once there is an answer
    std::int32_t status = 0;  // 0: no answer yet
    std::string content_type;
    TextMap headers;
    std::string body;
    friend bool operator==(const StoredAnswer&, const StoredAnswer&) = default;
};

std::string StoredAnswerToJson(const StoredAnswer& answer);
Result<StoredAnswer> StoredAnswerFromJson(std::string_view text);

}  // namespace ksana::codec

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::codec {

// What is stored about a request with an Idempotency-Key, and its answer once there is one.
struct StoredAnswer {
    std::string request;      // hash: the same key must come with the same request
    Uuid id;                  // for the object it creates, so that a repetition creates it once
    TimePoint until{};        // until then the request is in progress; unused with an answer
    std::int32_t status = 0;  // 0: no answer yet
    std::string content_type;
    TextMap headers;
    std::string body;
    friend bool operator==(const StoredAnswer&, const StoredAnswer&) = default;
};

std::string StoredAnswerToJson(const StoredAnswer& answer);
Result<StoredAnswer> StoredAnswerFromJson(std::string_view text);

}  // namespace ksana::codec

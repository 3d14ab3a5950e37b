#include "ksana/lock_etcd/etcd_error.hpp"

#include <fmt/core.h>

#include <charconv>
#include <string>

#include "ksana/base/text/utf8.hpp"

namespace ksana::lock_etcd {
namespace {

constexpr std::size_t kLongestText = 300;

// The numbers of gRPC's status codes.
Code CodeOfStatus(std::int64_t status, std::string_view text) {
    // etcd reports a wrong password and a missing token as an invalid argument.
    if (text.find("authentication failed") != std::string_view::npos ||
        text.find("user name is empty") != std::string_view::npos) {
        return Code::kUnauthenticated;
    }
    switch (status) {
        case 1:   // cancelled
        case 4:   // deadline exceeded
        case 10:  // aborted
        case 14:  // unavailable: no leader, stopped, timed out
            return Code::kUnavailable;
        case 3:   // invalid argument: too large a request
        case 11:  // out of range: too large a TTL
            return Code::kInvalidArgument;
        case 5:
            return Code::kNotFound;
        case 7:
            return Code::kPermissionDenied;
        case 8:  // too many requests, no space
            return Code::kExhausted;
        case 12:
            return Code::kUnimplemented;
        case 15:
            return Code::kDataLoss;
        case 16:
            return Code::kUnauthenticated;
        default:
            return Code::kInternal;
    }
}

bool MessageHas(const Error& error, std::string_view text) {
    return error.message.find(text) != std::string::npos;
}

Error NotEtcd(std::string_view where, int status) {
    return Error(Code::kUnavailable,
                 fmt::format("{}: HTTP {}, not an answer of etcd's v3 API", where, status));
}

}  // namespace

Result<codec::Json> ReadEtcdAnswer(const http_client::CallAnswer& answer, std::string_view where) {
    if (answer.error != http_client::CallError::kNone) {
        return Error(Code::kUnavailable, fmt::format("{}: {}", where, answer.error_text));
    }
    auto json = codec::Json::Parse(answer.body);
    if (!json || !json->IsObject()) return NotEtcd(where, answer.status);
    if (answer.status == 200 && !json->Has("/error")) return json;
    // A stream (keepalive) has an object in "error", everything else a text.
    const codec::Json error = json->At("/error");
    const bool stream = error.IsObject();
    const std::string text = stream ? error.TextAt("/message") : error.Text();
    if (text.empty()) return NotEtcd(where, answer.status);
    const std::int64_t status = stream ? IntegerAt(error, "/grpc_code") : IntegerAt(*json, "/code");
    return Error(CodeOfStatus(status, text),
                 fmt::format("{}: {}", where, Excerpt(text, kLongestText)));
}

bool WantsNewToken(const Error& error) {
    return MessageHas(error, "invalid auth token") || MessageHas(error, "user name is empty") ||
           MessageHas(error, "revision of auth store is old");
}

bool AuthenticationIsOff(const Error& error) {
    return MessageHas(error, "authentication is not enabled");
}

std::int64_t IntegerAt(const codec::Json& json, std::string_view pointer) {
    const codec::Json at = json.At(pointer);
    if (!at.IsText()) return at.Int().value_or(0);
    const std::string text = at.Text();
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    return fault == std::errc{} && end == text.data() + text.size() ? number : 0;
}

}  // namespace ksana::lock_etcd

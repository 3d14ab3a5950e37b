#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::exec {

// A longer JSON answer is not kept as the run's result.
inline constexpr std::size_t kMaxResult = 64 << 10;
// Of an answer's body, with the attempt.
inline constexpr std::size_t kMaxKeptBody = 4 << 10;

// What is known of an attempt beside its answer.
struct CallContext {
    std::string target;  // "example.com:8080", as the URL has it
    Duration timeout{};  // as the user set it, for the error text
    Duration connect_timeout{};
    std::string trace_id;
};

// "example.com:8080" of "http://example.com:8080/path".
std::string TargetOf(std::string_view url);

// What an answer means for the run (K-09): its status decides. Retry-After is obeyed for failures
// that are tried again, and "Ksana-Retry: no" makes a failure permanent. Without an answer: the
// egress guard's refusal is permanent, a timeout is one, everything else is tried again.
//   result  the body where it is JSON of at most kMaxResult, else empty
//   error   short, for people: "HTTP 503 from example.com"
//   target  down: no connection, 502, 503 or 504; answered: any other answer
//   detail  {"status","error_kind","remote","timings":{"dns_ms",…},"body","body_truncated",
//           "trace_id"}
// Bytes that are no UTF-8 and NULs come out as replacement characters, as no store keeps them.
model::Event OutcomeOf(const http_client::CallAnswer& answer, const CallContext& context,
                       TimePoint now);

// At most `max_bytes` of something as well-formed UTF-8 without NUL.
std::string HarmlessText(std::string_view bytes, std::size_t max_bytes);

// Longer waits are cut to this.
inline constexpr Duration kMaxRetryAfter = std::chrono::hours(24);

// The header Retry-After: seconds, or a date as HTTP writes it ("Sun, 06 Nov 1994 08:49:37 GMT"); a
// date that has passed is no wait at all. Nothing: neither of them.
std::optional<Duration> ParseRetryAfter(std::string_view text, TimePoint now);

}  // namespace ksana::exec

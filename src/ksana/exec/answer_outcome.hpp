#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::exec {

// The longest JSON answer that is kept as the run's result.
inline constexpr std::size_t kMaxResult = 64 << 10;
// The longest part of an answer's body that is kept with the attempt.
inline constexpr std::size_t kMaxKeptBody = 4 << 10;

// What OutcomeOf needs to know about an attempt beside its answer.
struct CallContext {
    std::string target;  // "example.com:8080", as written in the URL
    Duration timeout{};  // as configured, for the error text
    Duration connect_timeout{};
    std::string trace_id;
};

// Returns "example.com:8080" for "http://example.com:8080/path".
std::string TargetOf(std::string_view url);

// Translates an answer into the event of the run (K-09). The status decides. Retry-After is obeyed
// for retryable failures, and "Ksana-Retry: no" makes a failure permanent. Without an answer: a
// refusal by the egress guard and too many redirects are permanent failures, a timeout is kTimeout,
// a cancelled call is kCancelled, and all other errors are retryable.
//   result  the body where it is JSON of at most kMaxResult, else empty
//   error   short, for people: "HTTP 503 from example.com"
//   target  down: no connection, 502, 503 or 504; answered: any other answer
//   detail  {"status","error_kind","remote","timings":{"dns_ms",…},"body","body_truncated",
//           "trace_id"}
// Invalid UTF-8 and NULs become replacement characters, because stores refuse them.
model::Event OutcomeOf(const http_client::CallAnswer& answer, const CallContext& context,
                       TimePoint now);

// Returns at most `max_bytes` of `bytes` as well-formed UTF-8 without NUL.
std::string HarmlessText(std::string_view bytes, std::size_t max_bytes);

// The longest accepted Retry-After; longer ones are cut to it.
inline constexpr Duration kMaxRetryAfter = std::chrono::hours(24);

// Parses the header Retry-After: seconds, or an HTTP date ("Sun, 06 Nov 1994 08:49:37 GMT"). A date
// in the past yields zero. Returns nothing for any other text.
std::optional<Duration> ParseRetryAfter(std::string_view text, TimePoint now);

}  // namespace ksana::exec

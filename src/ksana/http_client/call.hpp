#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/text/http_method.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/http_client/egress.hpp"

namespace ksana::http_client {

struct Header {
    std::string name;
    std::string value;
    friend bool operator==(const Header&, const Header&) = default;
};

// Returns the value of the first header called `name` (case-insensitive), or null if none matches.
// The pointer is into `headers`.
const std::string* FindHeader(const std::vector<Header>& headers, std::string_view name);

// One HTTP call. A call with an invalid header or with credentials in its URL ends with kOther and
// is never sent: header names must be tokens, values must not contain control characters, and the
// headers of the connection (Host, Content-Length, Transfer-Encoding, Connection, Upgrade, Expect)
// are not allowed.
struct CallRequest {
    HttpMethod method = HttpMethod::kGet;
    std::string url;  // http or https
    std::vector<Header> headers;
    std::string body;

    Duration connect_timeout = std::chrono::seconds(10);  // name lookup, TCP and TLS
    // Limit for the whole call, including the wait for a free connection and every redirect.
    Duration timeout = std::chrono::seconds(30);

    std::size_t max_kept = 64 << 10;  // bytes of the answer's body to keep
    // Bytes of the answer's body to read. Between max_kept and max_read the body is read and
    // dropped, so that the connection can be reused. A longer body is cut off and the connection
    // closed.
    std::size_t max_read = 1 << 20;
    std::size_t max_header_bytes = 64 << 10;  // more is a protocol error

    int max_redirects = 0;                      // 0: a redirect is returned as the answer
    std::shared_ptr<const EgressRules> egress;  // null: ClientOptions::egress
};

enum class CallError : std::uint8_t {
    kNone,
    kDns,
    kConnect,
    kTls,
    kTimeout,
    kEgressRefused,
    kProtocol,  // the target sent invalid HTTP, or closed before its answer was complete
    kTooManyRedirects,
    kCancelled,
    kOther,
};

inline constexpr std::size_t kCallErrorCount = 10;

// Returns the name for metrics and logs: "none", "dns", "egress_refused".
std::string_view NameOf(CallError error);

// Time from the start of the last hop until each step was complete; zero if the step was not
// reached or not needed. `total` covers all hops.
struct CallTimings {
    Duration dns{};
    Duration connect{};
    Duration tls{};
    Duration first_byte{};
    Duration total{};
};

struct CallAnswer {
    CallError error = CallError::kNone;
    std::string error_text;  // for people: "connection refused by 127.0.0.1:9"
    int status = 0;          // 0: no status line arrived; may be set beside an error
    std::vector<Header> headers;
    std::string body;             // at most max_kept bytes
    bool body_truncated = false;  // the body was longer than max_kept
    std::string remote;           // "127.0.0.1:80", "[::1]:80"; empty: no address was tried
    CallTimings timings;
    int redirects = 0;     // number followed
    bool reused = false;   // sent over a kept-alive connection
    int http_version = 0;  // 10, 11, 20; 0: no answer
};

using CallId = std::uint64_t;
using CallDone = std::function<void(CallAnswer)>;

}  // namespace ksana::http_client

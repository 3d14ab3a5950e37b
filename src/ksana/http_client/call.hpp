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

// The value of the first header of that name, in any case; null: there is none.
const std::string* FindHeader(const std::vector<Header>& headers, std::string_view name);

// One HTTP call. Header names must be tokens and values free of control characters; those that
// belong to the connection (Host, Content-Length, Transfer-Encoding, Connection) are refused, and
// so are credentials in the URL.
struct CallRequest {
    HttpMethod method = HttpMethod::kGet;
    std::string url;  // http or https
    std::vector<Header> headers;
    std::string body;

    Duration connect_timeout = std::chrono::seconds(10);  // name, connection and TLS
    // Of everything: waiting for a free connection and all redirects included.
    Duration timeout = std::chrono::seconds(30);

    std::size_t max_kept = 64 << 10;  // bytes of the answer's body that are kept
    // Where an answer goes on beyond this, reading ends and the connection is closed. Up to here
    // the rest is read and dropped, so that the connection can be used again.
    std::size_t max_read = 1 << 20;
    std::size_t max_header_bytes = 64 << 10;  // more is a protocol error

    int max_redirects = 0;                      // 0: a redirect is an answer like any other
    std::shared_ptr<const EgressRules> egress;  // null: the client's
};

enum class CallError : std::uint8_t {
    kNone,
    kDns,
    kConnect,
    kTls,
    kTimeout,
    kEgressRefused,
    kProtocol,  // the other side does not speak HTTP as it should, or ended too early
    kTooManyRedirects,
    kCancelled,
    kOther,
};

inline constexpr std::size_t kCallErrorCount = 10;

// "none", "dns", "egress_refused": for metrics and logs.
std::string_view NameOf(CallError error);

// From the start of the (last redirect's) call until the step was done; zero where it was not
// reached or not needed. `total` is that of the whole.
struct CallTimings {
    Duration dns{};
    Duration connect{};
    Duration tls{};
    Duration first_byte{};
    Duration total{};
};

struct CallAnswer {
    CallError error = CallError::kNone;
    std::string error_text;  // short, for people: "connection refused by 127.0.0.1:9"
    int status = 0;          // 0: none arrived; may be there beside an error
    std::vector<Header> headers;
    std::string body;             // at most max_kept of it
    bool body_truncated = false;  // there was more
    std::string remote;           // "127.0.0.1:80", "[::1]:80"; empty: never got that far
    CallTimings timings;
    int redirects = 0;     // followed
    bool reused = false;   // went over a connection that was there
    int http_version = 0;  // 10, 11, 20; 0: no answer
};

using CallId = std::uint64_t;
using CallDone = std::function<void(CallAnswer)>;

}  // namespace ksana::http_client

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/http_client/call.hpp"
#include "ksana/http_client/egress.hpp"

namespace ksana::http_client {

// The bytes of a call that needs no libcurl, as sent over the connection.
struct PlainRequest {
    std::string bytes;  // the head, followed by the body if `body_inside`
    bool body_inside = false;
    std::size_t host_at = 0;  // offset of the host in `bytes`
    std::size_t host_size = 0;
    int port = 80;
    std::optional<IpAddress> address;  // nullopt: the host is a name

    // The value of the Host header: "127.0.0.1:8080", "example.org".
    std::string_view host() const { return std::string_view(bytes).substr(host_at, host_size); }
};

// Returns the bytes to send, or nullopt if the call needs libcurl: another scheme than http,
// redirects to follow, or a URL that libcurl would normalize before sending. FaultOf must have
// accepted the call.
std::optional<PlainRequest> PlainRequestOf(const CallRequest& request);

}  // namespace ksana::http_client

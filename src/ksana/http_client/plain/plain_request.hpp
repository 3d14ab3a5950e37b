#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/http_client/call.hpp"
#include "ksana/http_client/egress.hpp"

namespace ksana::http_client {

// A call as it goes over the connection where libcurl is not needed for it.
struct PlainRequest {
    std::string bytes;  // the head, and the body behind it where `body_inside`
    bool body_inside = false;
    std::size_t host_at = 0;  // in `bytes`
    std::size_t host_size = 0;
    int port = 80;
    std::optional<IpAddress> address;  // nothing: the host is a name

    // As the Host header has it: "127.0.0.1:8080", "example.org".
    std::string_view host() const { return std::string_view(bytes).substr(host_at, host_size); }
};

// Nothing: the call is one for libcurl: anything but http, redirects to be followed, and every URL
// that libcurl would send otherwise than it stands there. The call must be without fault.
std::optional<PlainRequest> PlainRequestOf(const CallRequest& request);

}  // namespace ksana::http_client

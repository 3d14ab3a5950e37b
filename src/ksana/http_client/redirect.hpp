#pragma once

#include <string>
#include <string_view>

#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

// Returns whether the status is one whose Location header is to be followed.
bool IsRedirect(long status);

// Returns whether both URLs have the same scheme, host and port. False if either is not a URL.
bool SameOrigin(const std::string& left, const std::string& right);

// Changes `request` into the call that a redirect asks for. As in browsers, 303 makes it a GET
// (except a HEAD), and 301 and 302 make a POST a GET; 307 and 308 keep method and body. Headers
// that hold credentials are dropped when the origin changes.
void Follow(const std::string& location, long status, CallRequest& request);

}  // namespace ksana::http_client

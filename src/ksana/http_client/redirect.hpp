#pragma once

#include <string>
#include <string_view>

#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

// The statuses whose Location says where to go instead.
bool IsRedirect(long status);

// Scheme, host and port are the same; false for what is no URL.
bool SameOrigin(const std::string& left, const std::string& right);

// Turns a call into the one that a redirect asks for: 303 makes it a GET, and so do 301 and 302 of
// a POST, as browsers do; 307 and 308 send the same again. Credentials stay with their origin.
void Follow(const std::string& location, long status, CallRequest& request);

}  // namespace ksana::http_client

#pragma once

#include <string>
#include <string_view>

#include "ksana/http_server/message.hpp"

namespace ksana::http_server {

// The value of a Link header (RFC 8288) that leads to the next page of a list: the same request
// with this cursor.
std::string NextLink(const Request& request, std::string_view cursor);

}  // namespace ksana::http_server

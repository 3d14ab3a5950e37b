#pragma once

#include <curl/curl.h>

#include "ksana/http_client/call.hpp"

// Private to the module, as it shows libcurl.

namespace ksana::http_client {

// What a result of libcurl means. The guard's and our own stops are told apart before.
CallError ErrorOfCurl(CURLcode code);

}  // namespace ksana::http_client

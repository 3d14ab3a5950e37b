#pragma once

#include <curl/curl.h>

#include "ksana/http_client/call.hpp"

// Private to the module: it exposes libcurl's types.

namespace ksana::http_client {

// Maps a result of libcurl to a CallError. The caller handles refusals by the egress guard and
// stops of its own (limits, timeout, cancellation) itself: libcurl's code does not identify them.
CallError ErrorOfCurl(CURLcode code);

}  // namespace ksana::http_client

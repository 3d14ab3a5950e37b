#pragma once

#include <string_view>

namespace ksana::api {

// openapi.json, byte for byte.
extern const std::string_view kOpenApi;

}  // namespace ksana::api

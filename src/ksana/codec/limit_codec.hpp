#pragma once

#include <string>
#include <string_view>

#include "ksana/base/result.hpp"
#include "ksana/model/limit.hpp"

namespace ksana::codec {

// {"description": "…", "max_concurrency": 2, "rate": {"count": 100, "per": "1m", "burst": 5}}: what
// people write, and what is stored. Every fault has its JSON Pointer; the values are checked, too.
std::string LimitToJson(const model::Limit& limit);
Result<model::Limit> LimitFromJson(std::string_view text);

}  // namespace ksana::codec

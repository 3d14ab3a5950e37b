#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// --max-concurrency N|none and --rate COUNT/PER|none, as `group set` and `limit set` have them.
std::vector<OptionSpec> LimitOptions();

// "10/1m" or "10/1m,burst=20" as the API has it; "none" is null.
Result<codec::Json> RateOf(std::string_view text);

// `body` with what the options say; a fault where they say nothing at all.
Result<codec::Json> WithLimits(codec::Json body, const Arguments& arguments);

// "10/1m" of what the API shows; "" where there is none.
std::string RateText(const codec::Json& rate);

}  // namespace ksana::app

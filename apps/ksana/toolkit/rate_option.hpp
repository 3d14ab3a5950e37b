#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// --max-concurrency N|none and --rate COUNT/PER|none, for `group set` and `limit set`.
std::vector<OptionSpec> LimitOptions();

// Parses "10/1m" or "10/1m,burst=20" into the API's form; "none" becomes null. kInvalidArgument
// otherwise.
Result<codec::Json> RateOf(std::string_view text);

// Returns `body` with the limits that the options give, unchanged if they give none.
// kInvalidArgument for a bad value.
Result<codec::Json> WithLimits(codec::Json body, const Arguments& arguments);

// Formats a rate of the API as "10/1m"; "" if there is none.
std::string RateText(const codec::Json& rate);

}  // namespace ksana::app

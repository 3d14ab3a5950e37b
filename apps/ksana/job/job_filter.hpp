#pragma once

#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/client/api_client.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// Flags that choose jobs: --group, --owner, --type, --label, --filter.
std::vector<OptionSpec> JobFilterOptions();
bool HasJobFilter(const Arguments& arguments);

// As a list of the API takes them, and as the body of what is done to many.
Result<client::Query> JobFilterQuery(const Arguments& arguments);
Result<codec::Json> JobFilterBody(const Arguments& arguments);

}  // namespace ksana::app

#pragma once

#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/client/api_client.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// The options that select jobs: --group, --owner, --type, --label, --filter.
std::vector<OptionSpec> JobFilterOptions();
bool HasJobFilter(const Arguments& arguments);

// Return the filter as a query of a list, and as the body of a request that changes many jobs.
Result<client::Query> JobFilterQuery(const Arguments& arguments);
Result<codec::Json> JobFilterBody(const Arguments& arguments);

}  // namespace ksana::app

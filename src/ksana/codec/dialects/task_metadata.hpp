#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/run/run_type.hpp"

// Types of tasks in the terms of document T (T-06, T-07): intervals in seconds, the timeout in
// minutes. The id of a type is its code.

namespace ksana::codec {

// Shows the effective retries and timeout: the defaults where the type sets none. The secret is
// masked.
std::string TaskMetadataToJson(const model::RunType& type, const model::PolicyDefaults& defaults);

// A masked secret means the one of `before` (null: there is none, and the mask is refused).
Result<model::RunType> TaskMetadataFromJson(std::string_view text, const model::RunType* before);

}  // namespace ksana::codec

#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/run/run_type.hpp"

// Types of tasks in the words of document T (T-06, T-07): intervals in seconds, the timeout in
// minutes. A type's id is its code.

namespace ksana::codec {

// With the retries and the timeout that hold where the type itself has none. The secret is masked.
std::string TaskMetadataToJson(const model::RunType& type, const model::PolicyDefaults& defaults);

// A masked secret is that of `before` (null: there is none, and the mask is refused).
Result<model::RunType> TaskMetadataFromJson(std::string_view text, const model::RunType* before);

}  // namespace ksana::codec

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/policy.hpp"

namespace ksana::store_kit {

// The text in which drivers store the policy of runs: a record (codec/records) of a run that has a
// policy and nothing else. Equal policies give equal texts. ksana_submit of PostgreSQL makes the
// same text in SQL (store_postgres/migrations/submit_function.cpp).
std::string PolicyToText(const model::RunPolicy& policy);
// kDataLoss: the text is no policy.
Result<model::RunPolicy> PolicyFromText(std::string_view text);

// For hash tables keyed by policies, which are few: it looks at the members that differ most.
struct PolicyHash {
    std::size_t operator()(const model::RunPolicy& policy) const;
};

}  // namespace ksana::store_kit

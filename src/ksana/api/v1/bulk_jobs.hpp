#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// Approximate number of jobs that one request changes; the answer says whether there are more.
inline constexpr std::size_t kMaxBulk = 1'000;

// Resumes or pauses the matching jobs that are not in that state yet, each in its own transaction.
// The answer names the jobs that were changed, those that failed and why, and says whether there
// are more.
Result<std::string> SetEnabled(engine::JobService& context, store::Store& store,
                               const codec::BulkRequest& wish, bool enabled,
                               const engine::Actor& by = {});
extern const codec::NamedSchema kBulkOutcomeSchema;

}  // namespace ksana::api

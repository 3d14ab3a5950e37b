#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// Jobs that one request changes; the answer says when there are more.
inline constexpr std::size_t kMaxBulk = 1'000;

// Resumes or pauses the jobs that match and are not so already, one after the other, each on its
// own. The answer tells which were changed, which could not be and why, and whether there are more.
Result<std::string> SetEnabled(engine::JobService& context, store::Store& store,
                               const codec::BulkRequest& wish, bool enabled,
                               const engine::Actor& by = {});
extern const codec::NamedSchema kBulkOutcomeSchema;

}  // namespace ksana::api

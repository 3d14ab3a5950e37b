#pragma once

#include "ksana/engine/services/type_cache.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/callback_order.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// How callbacks are delivered: as runs of their own, so that nothing is lost in a crash.
struct CallbackOptions {
    Duration timeout = std::chrono::seconds(10);
    // 5 s, 10 s, … 1 h, and every hour then: over half a day in all.
    model::RetryPolicy retry = {.strategy = model::RetryStrategy::kExponential,
                                .max_retries = 20,
                                .interval = std::chrono::seconds(5),
                                .sequence = {},
                                .max_interval = std::chrono::hours(1),
                                .jitter = 0.2};
};

// A run that delivers an order, so far as all have it in common.
model::Run CallbackRun(const model::CallbackOrder& order, const CallbackOptions& options);

// The callback that follows from the end of a run (T-10), stored in the transaction of the report
// that ended it: a run of kind http whose payload is a model::CallbackOrder and whose parent is the
// run it speaks of. It is held when its retries are used up: a dead letter, which keeps its id, the
// receiver's key against doubles, when it is sent again. The book must outlive it.
store::FollowUp MakeCallbackFollowUp(const TypeCache& types, CallbackOptions options);

}  // namespace ksana::engine

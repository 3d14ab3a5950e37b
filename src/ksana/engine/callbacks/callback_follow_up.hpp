#pragma once

#include "ksana/engine/services/type_cache.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/callback_order.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// How callbacks are delivered. They are runs, so that a crash loses none.
struct CallbackOptions {
    Duration timeout = std::chrono::seconds(10);
    // 5 s, 10 s, … up to 1 h, then every hour: more than half a day in all.
    model::RetryPolicy retry = {.strategy = model::RetryStrategy::kExponential,
                                .max_retries = 20,
                                .interval = std::chrono::seconds(5),
                                .sequence = {},
                                .max_interval = std::chrono::hours(1),
                                .jitter = 0.2};
};

// Makes a run that delivers `order`, with the fields that all callbacks have in common.
model::Run CallbackRun(const model::CallbackOrder& order, const CallbackOptions& options);

// Makes the callback for the end of a run (T-10). The store saves it in the transaction of the
// report that ended the run: a run of kind http whose payload is a model::CallbackOrder and whose
// parent is the ended run. When its retries are used up it is held as a dead letter. It keeps its
// id, which is the receiver's idempotency key, when it is sent again. `types` must outlive the
// function.
store::FollowUp MakeCallbackFollowUp(const TypeCache& types, CallbackOptions options);

}  // namespace ksana::engine

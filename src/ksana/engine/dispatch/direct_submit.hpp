#pragma once

#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/engine/dispatch/dispatcher.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Stores runs that `dispatcher` executes, and starts those that fit into free slots on the caller's
// thread: one commit before the start instead of two. If other runs already wait, the new ones
// queue behind them. Returns what store::RunStore::Submit returns. Thread-safe.
Result<std::vector<store::Submitted>> SubmitAndStart(store::Store& store, Dispatcher& dispatcher,
                                                     store::SubmitParams params);

}  // namespace ksana::engine

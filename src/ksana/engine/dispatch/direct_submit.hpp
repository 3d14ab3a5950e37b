#pragma once

#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/engine/dispatch/dispatcher.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Stores runs that the dispatcher carries out, and starts those that can start at once: with one
// commit before the start instead of two, and on the caller's thread. Where others wait already the
// new ones wait behind them. Outcomes are those of store::RunStore::Submit. Thread-safe.
Result<std::vector<store::Submitted>> SubmitAndStart(store::Store& store, Dispatcher& dispatcher,
                                                     store::SubmitParams params);

}  // namespace ksana::engine

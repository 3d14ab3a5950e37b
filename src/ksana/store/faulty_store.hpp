#pragma once

#include <functional>
#include <memory>

#include "ksana/store/fault_plan.hpp"
#include "ksana/store/store.hpp"

namespace ksana::store {

// Returns a store that forwards every call to `inner` and injects the faults of `plan`, for tests
// of the layers above against a database that fails at the wrong moment. `wait` lets the delay of
// kDelay pass on the calling thread (by advancing a FakeClock, or a Clock's Wait); without it there
// is no delay. `inner` and `plan` must outlive the returned store. It is thread-safe if `inner` and
// `wait` are. Its change feed is that of `inner`.
std::unique_ptr<Store> MakeFaultyStore(Store& inner, FaultPlan& plan,
                                       std::function<void(Duration)> wait = {});

}  // namespace ksana::store

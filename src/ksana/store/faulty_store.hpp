#pragma once

#include <functional>
#include <memory>

#include "ksana/store/fault_plan.hpp"
#include "ksana/store/store.hpp"

namespace ksana::store {

// A store that fails as a plan says, around one that works: how the layers above are tested against
// a database that goes away in the wrong moment. `wait` makes a delay pass, on the thread of the
// call (a FakeClock that is advanced, a clock's Wait); nothing here sleeps. All arguments must
// outlive it. Thread-safe when `inner` and `wait` are. Changes are told as `inner` tells them.
std::unique_ptr<Store> MakeFaultyStore(Store& inner, FaultPlan& plan,
                                       std::function<void(Duration)> wait = {});

}  // namespace ksana::store

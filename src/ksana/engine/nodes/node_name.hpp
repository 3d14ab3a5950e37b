#pragma once

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/model/node.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Waits until no other server lives under the name of `self`, which would take over its runs while
// it carries them out. A server that has stopped, whose session has ended (it was killed) or whose
// lease has passed is none. Returns kConflict as soon as a heartbeat of the other is seen, which
// takes a third of its lease; the longest wait, for a server that was lost with its machine, is its
// lease. Call it before the node joins.
Result<void> AwaitName(store::Store& store, Clock& clock, const model::ServerNode& self);

}  // namespace ksana::engine

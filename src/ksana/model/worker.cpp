#include "ksana/model/worker.hpp"

namespace ksana::model {

WorkerState StateOf(const Worker& worker, TimePoint now, Duration silence) {
    if (worker.deregistered) return WorkerState::kGone;
    if (now - worker.last_heartbeat_at > silence) return WorkerState::kDown;
    return worker.draining ? WorkerState::kDraining : WorkerState::kAlive;
}

}  // namespace ksana::model

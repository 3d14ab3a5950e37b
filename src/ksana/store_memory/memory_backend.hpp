#pragma once

#include <memory>

#include "ksana/base/time/clock.hpp"
#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::store_memory {

// Returns a driver that keeps everything in memory and loses it with the process. The other drivers
// are compared with it, and the simulator uses it. Bodies run on the calling thread: one write at a
// time, reads side by side. `clock` must outlive it.
std::unique_ptr<store_kit::Backend> OpenMemory(Clock& clock);

}  // namespace ksana::store_memory

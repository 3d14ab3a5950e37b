#pragma once

#include <memory>

#include "ksana/base/time/clock.hpp"
#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::store_memory {

// Keeps everything in memory and loses it with the process: the reference that the other drivers
// are compared with, and the simulator's store. One transaction at a time. The clock must outlive
// it.
std::unique_ptr<store_kit::Backend> OpenMemory(Clock& clock);

}  // namespace ksana::store_memory

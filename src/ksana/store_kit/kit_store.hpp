#pragma once

#include <memory>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/store/store.hpp"
#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::store_kit {

// Returns a thread-safe store on top of a driver. `ids` generates run and execution ids and must
// outlive the store.
std::unique_ptr<store::Store> MakeStore(std::unique_ptr<Backend> backend, UuidGenerator& ids);

}  // namespace ksana::store_kit

#pragma once

#include <memory>
#include <string>

#include "ksana/base/clock.hpp"
#include "ksana/base/result.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/store/store.hpp"

namespace ksana::crash {

// The stores that keep their data in files of this machine, by name.
Result<std::unique_ptr<store::Store>> OpenDriver(const std::string& driver, const std::string& path,
                                                 Clock& clock, UuidGenerator& ids);

}  // namespace ksana::crash

#pragma once

#include <memory>
#include <string>

#include "ksana/base/clock.hpp"
#include "ksana/base/random.hpp"
#include "ksana/base/result.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/store/store.hpp"

namespace ksana::crash {

// A store by its driver's name; the path is a file, or the URL of a server.
Result<std::unique_ptr<store::Store>> OpenDriver(const std::string& driver, const std::string& path,
                                                 Clock& clock, Random& random, UuidGenerator& ids);

}  // namespace ksana::crash

#pragma once

#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store/store.hpp"

namespace ksana::crash {

// A store by its driver's name; the path is a file, or the URL of a server.
Result<std::unique_ptr<store::Store>> OpenDriver(const std::string& driver, const std::string& path,
                                                 Clock& clock, Random& random, UuidGenerator& ids);

}  // namespace ksana::crash

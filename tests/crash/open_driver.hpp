#pragma once

#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store/store.hpp"

namespace ksana::crash {

// Opens a store by the name of its driver; `path` is a file, or the URL of a server. All references
// must outlive the store.
Result<std::unique_ptr<store::Store>> OpenDriver(const std::string& driver, const std::string& path,
                                                 Clock& clock, Random& random, UuidGenerator& ids);

}  // namespace ksana::crash

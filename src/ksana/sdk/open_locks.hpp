#pragma once

#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::sdk {

Result<std::unique_ptr<lock::LockDriver>> OpenLocks(const std::string& url, Clock& clock,
                                                    Random& random);

}  // namespace ksana::sdk

#pragma once

#include <memory>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/lock/lock_url.hpp"

namespace ksana::server {

// Opens the driver of a lock server. For LockKind::kStore returns null: the store has its own rows
// (engine/locks/store_locks.hpp). `clock` must outlive the driver. Fails with kUnavailable if the
// server must answer at once and does not, and with kUnimplemented if its client library is not
// installed.
Result<std::unique_ptr<lock::LockDriver>> OpenLocks(const lock::LockUrl& url, const Clock& clock);

}  // namespace ksana::server

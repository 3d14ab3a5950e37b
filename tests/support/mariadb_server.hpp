#pragma once

#include <string>

#include "ksana/lock_mariadb/mariadb_locks.hpp"

namespace ksana::testing {

// Returns the URL of the test server (tests/support/start_mariadb.sh). Fails the test if there is
// none: a skipped test proves nothing.
std::string MariadbUrl();

// Returns options for the server of a URL, mariadb://user:password@host:port/database. `clock` must
// outlive them.
lock_mariadb::MariadbLockOptions MariadbOptions(const std::string& url, const Clock& clock);

}  // namespace ksana::testing

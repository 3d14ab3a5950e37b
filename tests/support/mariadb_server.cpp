#include "support/mariadb_server.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "ksana/lock/lock_url.hpp"

namespace ksana::testing {

std::string MariadbUrl() {
    const char* url = std::getenv("KSANA_TEST_MARIADB");
    EXPECT_NE(url, nullptr) << "KSANA_TEST_MARIADB names no server; start one with "
                               "tests/support/start_mariadb.sh FOLDER";
    return url == nullptr ? "" : url;
}

lock_mariadb::MariadbLockOptions MariadbOptions(const std::string& url, const Clock& clock) {
    lock_mariadb::MariadbLockOptions options{.clock = clock};
    const auto parsed = lock::ParseLockUrl(url);
    if (!parsed || parsed->servers.empty()) {
        ADD_FAILURE() << "no URL of a server";
        return options;
    }
    options.user = parsed->servers[0].user;
    options.password = parsed->servers[0].password;
    options.host = parsed->servers[0].host;
    options.port = parsed->servers[0].port;
    options.database = parsed->database;
    return options;
}

}  // namespace ksana::testing

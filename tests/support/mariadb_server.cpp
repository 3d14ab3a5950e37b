#include "support/mariadb_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ksana::testing {

std::string MariadbUrl() {
    const char* url = std::getenv("KSANA_TEST_MARIADB");
    EXPECT_NE(url, nullptr) << "KSANA_TEST_MARIADB names no server; start one with "
                               "tests/support/start_mariadb.sh FOLDER";
    return url == nullptr ? "" : url;
}

lock_mariadb::MariadbLockOptions MariadbOptions(const std::string& url, const Clock& clock) {
    lock_mariadb::MariadbLockOptions options{.clock = clock};
    std::string_view rest = url;
    // Returns the text up to `end`, and goes on behind it.
    const auto take = [&rest](std::string_view end) {
        const std::size_t at = std::min(rest.find(end), rest.size());
        const std::string part(rest.substr(0, at));
        rest.remove_prefix(std::min(at + end.size(), rest.size()));
        return part;
    };
    EXPECT_EQ(take("://"), "mariadb") << url;
    options.user = take(":");
    options.password = take("@");
    options.host = take(":");
    options.port = static_cast<std::uint16_t>(std::atoi(take("/").c_str()));
    options.database = rest;
    return options;
}

}  // namespace ksana::testing

#include "support/postgres_server.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "ksana/base/error/check.hpp"

namespace ksana::testing {

std::string PostgresUrl() {
    const char* url = std::getenv("KSANA_TEST_POSTGRES");
    EXPECT_NE(url, nullptr) << "KSANA_TEST_POSTGRES names no server; start one with "
                               "tests/support/start_postgres.sh FOLDER";
    return url == nullptr ? "" : url;
}

std::string PoolerUrl() {
    const char* url = std::getenv("KSANA_TEST_POOLER");
    return url == nullptr ? "" : url;
}

PostgresSchema::PostgresSchema() : name_(fmt::format("test_{:016x}", random_.Next())) {}

PostgresSchema::~PostgresSchema() { Run(fmt::format("DROP SCHEMA IF EXISTS {} CASCADE", name_)); }

store_postgres::PostgresOptions PostgresSchema::Options() {
    return {.url = PostgresUrl(), .clock = clock_, .random = random_, .schema = name_};
}

libpq::Rows PostgresSchema::Run(const std::string& sql) {
    const libpq::Deadline deadline(clock_, std::chrono::seconds(60));
    auto made = libpq::Connection::Open(
        {.url = PostgresUrl(), .schema = name_, .statement_timeout = std::chrono::seconds(60)},
        deadline);
    if (auto* fault = std::get_if<1>(&made)) {
        ADD_FAILURE() << fault->error.message;
        return {};
    }
    std::vector<libpq::Statement> statements(1);
    statements[0].owned = sql;
    auto answer = std::get<0>(made)->RoundTrip(statements, deadline);
    if (auto* fault = std::get_if<1>(&answer)) {
        ADD_FAILURE() << sql << ": " << fault->error.message;
        return {};
    }
    return std::move(std::get<0>(answer).front());
}

}  // namespace ksana::testing

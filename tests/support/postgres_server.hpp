#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/wire/connection.hpp"

namespace ksana::testing {

// The URL of the server that tests may use (tests/support/start_postgres.sh); a test without one
// fails, as a skipped test proves nothing.
std::string PostgresUrl();

// The URL of a transaction pooler before that server, where the tests are to go through one
// (with_pgbouncer.py); else empty.
std::string PoolerUrl();

// A schema of its own for one test, so that tests run beside each other; dropped at the end.
class PostgresSchema {
  public:
    PostgresSchema();
    ~PostgresSchema();
    PostgresSchema(const PostgresSchema&) = delete;
    PostgresSchema& operator=(const PostgresSchema&) = delete;

    const std::string& name() const { return name_; }
    store_postgres::PostgresOptions Options();

    // Runs a statement beside the store; "ksana." is this schema. The rows as text columns.
    store_postgres::Rows Run(const std::string& sql);

    Clock& clock() { return clock_; }
    Random& random() { return random_; }

  private:
    SystemClock clock_;
    SystemRandom random_;
    std::string name_;  // drawn, so after random_
};

}  // namespace ksana::testing

#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/libpq/connection.hpp"
#include "ksana/store_postgres/open_postgres.hpp"

namespace ksana::testing {

// Returns the URL of the test server (tests/support/start_postgres.sh). Fails the test if there is
// none: a skipped test proves nothing.
std::string PostgresUrl();

// Returns the URL of the transaction pooler in front of that server (with_pgbouncer.py); "" if the
// tests connect directly.
std::string PoolerUrl();

// A schema for one test, so that tests can run in parallel. The destructor drops it. Owned by the
// test.
class PostgresSchema {
  public:
    PostgresSchema();
    ~PostgresSchema();
    PostgresSchema(const PostgresSchema&) = delete;
    PostgresSchema& operator=(const PostgresSchema&) = delete;

    const std::string& name() const { return name_; }
    store_postgres::PostgresOptions Options();

    // Runs a statement on a separate connection, with "ksana." meaning this schema. Returns the
    // rows as text columns; fails the test on an error.
    libpq::Rows Run(const std::string& sql);

    Clock& clock() { return clock_; }
    Random& random() { return random_; }

  private:
    SystemClock clock_;
    SystemRandom random_;
    std::string name_;  // random: must follow random_
};

}  // namespace ksana::testing

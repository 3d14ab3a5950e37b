#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <string>

// What PostgreSQL does for a program that only wants speed: one narrow row, one partial index, and
// a finished run is deleted in the pipelined transaction that claims the next ones. The yardstick
// for store_postgres.

namespace ksana::bench {

class BarePostgres {
  public:
    explicit BarePostgres(const std::string& url);
    ~BarePostgres();
    BarePostgres(const BarePostgres&) = delete;
    BarePostgres& operator=(const BarePostgres&) = delete;

    // An empty table, `rows` of them ready, and all of it written.
    void Reset(std::size_t rows);
    // What was filled is written before something is timed: for both sides of the comparison.
    void Settle() { Run("CHECKPOINT"); }
    void Insert(std::size_t count);
    // Deletes what the call before has claimed and claims so many; how many it got.
    std::size_t DeleteAndClaim(std::size_t count);

  private:
    void Run(const std::string& sql);

    PGconn* connection_;
    std::string held_ = "{}";
};

}  // namespace ksana::bench

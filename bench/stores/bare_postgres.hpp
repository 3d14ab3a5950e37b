#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <string>

// The baseline for store_postgres: a program that only wants speed. It stores one narrow row with
// one partial index, and deletes finished runs in the pipelined transaction that claims the next
// ones.

namespace ksana::bench {

// One connection; one thread. Every error aborts.
class BarePostgres {
  public:
    explicit BarePostgres(const std::string& url);
    ~BarePostgres();
    BarePostgres(const BarePostgres&) = delete;
    BarePostgres& operator=(const BarePostgres&) = delete;

    // Creates the table with `rows` ready rows, and writes everything to disk.
    void Reset(std::size_t rows);
    // Writes all changes to disk. Both sides of a comparison do this before they are timed.
    void Settle() { Run("CHECKPOINT"); }
    void Insert(std::size_t count);
    // Deletes the rows that the previous call claimed and claims up to `count`. Returns how many it
    // claimed.
    std::size_t DeleteAndClaim(std::size_t count);

  private:
    void Run(const std::string& sql);

    PGconn* connection_;
    std::string held_ = "{}";
};

}  // namespace ksana::bench

#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The baseline for store_sqlite: a program that only wants speed. It stores one narrow row with
// one partial index, and deletes finished runs.

namespace ksana::bench {

// One connection; one thread. An error aborts, except in ClaimAndDelete, which ignores it.
class BareSqlite {
  public:
    explicit BareSqlite(const std::string& path);
    ~BareSqlite();
    BareSqlite(const BareSqlite&) = delete;
    BareSqlite& operator=(const BareSqlite&) = delete;

    void Begin() { Run("begin immediate"); }
    void Commit() { Run("commit"); }
    void Insert(std::int64_t ready_at, const std::string& payload);
    // Deletes the rows that the previous call claimed and claims up to `count`. Returns how many it
    // claimed.
    std::size_t ClaimAndDelete(std::size_t count);

  private:
    void Run(const char* sql);

    sqlite3* database_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    sqlite3_stmt* claim_ = nullptr;
    sqlite3_stmt* done_ = nullptr;
    std::vector<std::int64_t> held_;
};

}  // namespace ksana::bench

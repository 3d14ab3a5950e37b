#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What SQLite does for a program that only wants speed: one narrow row, one partial index, and a
// finished run is deleted. The yardstick for store_sqlite.

namespace ksana::bench {

class BareSqlite {
  public:
    explicit BareSqlite(const std::string& path);
    ~BareSqlite();
    BareSqlite(const BareSqlite&) = delete;
    BareSqlite& operator=(const BareSqlite&) = delete;

    void Begin() { Run("begin immediate"); }
    void Commit() { Run("commit"); }
    void Insert(std::int64_t ready_at, const std::string& payload);
    // Claims so many and deletes those that the call before has claimed.
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

#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::store_sqlite {

struct FileReport {
    std::vector<std::string> faults;  // none: the store is whole
    bool live = false;  // a server has it open: its log and checksums are not looked at
};

// Looks for damage in a database: cut files, a log that is gone or damaged, pages that differ from
// their checksums, and what SQLite's integrity_check finds. Reads all of it and changes nothing.
// Returns kNotFound if there is no database.
Result<FileReport> CheckSqliteFiles(const std::string& path);

// Accepts what can be read of a damaged database: copies its files to names with ".bad", copies
// what can be read of the log into the database, and begins the checksums anew. Returns where the
// copies are. kUnavailable: a server has it open. kDataLoss: SQLite finds damage that cannot be
// accepted; the copies stay.
Result<std::string> RepairSqliteFiles(const std::string& path);

}  // namespace ksana::store_sqlite

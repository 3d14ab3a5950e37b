#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_sqlite/damage/page_sums.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// What the look before the start found out.
struct StartFacts {
    bool unclean = false;  // the last writer did not close the database
};

// Looks at the files of a database before SQLite opens them, because SQLite passes over in silence
// what it cannot read of a log. Changes nothing but the checksums, which begin anew if another
// program has copied the log into the database. Returns kDataLoss if commits that were acknowledged
// are missing: the log is gone, was replaced, or is damaged, or the database was cut. Call it with
// the lock held.
Result<StartFacts> CheckBeforeStart(const std::string& database_path, PageSums& sums);

// Runs SQLite's quick_check for at most a few seconds; a larger database is checked in part.
// Returns kDataLoss with the first faults.
Result<void> QuickCheck(Connection& connection);

// Runs integrity_check without a limit of time. Returns the faults, at most `most`.
Result<std::vector<std::string>> IntegrityCheck(Connection& connection, int most);

}  // namespace ksana::store_sqlite

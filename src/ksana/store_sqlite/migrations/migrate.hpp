#pragma once

#include <span>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store_kit/driver/migrations.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// Returns all steps of the schema, oldest first.
std::span<const store_kit::Migration> Migrations();

// Reads which steps are applied: none in a database without the table that records them.
Result<store_kit::MigrationStatus> ReadStatus(Connection& connection);

// Returns kConflict, with both versions, if a later program has made this database.
Result<void> RefuseNewer(const store_kit::MigrationStatus& status);

// Applies the missing steps, each in one transaction. The caller holds the file lock.
Result<void> Migrate(Connection& connection, const Clock& clock);

}  // namespace ksana::store_sqlite

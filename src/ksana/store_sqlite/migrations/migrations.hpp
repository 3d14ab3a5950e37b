#pragma once

#include <span>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store_kit/driver/migrations.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// Every step of the schema, oldest first.
std::span<const store_kit::Migration> Migrations();

// Nothing is applied in a database without the table that records it.
Result<store_kit::MigrationStatus> ReadStatus(Connection& connection);

// kConflict, with both numbers, when a later program made this database.
Result<void> RefuseNewer(const store_kit::MigrationStatus& status);

// Applies what is missing, each step in one transaction. The caller holds the file lock.
Result<void> Migrate(Connection& connection, const Clock& clock);

}  // namespace ksana::store_sqlite

#pragma once

#include <span>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_kit/driver/migrations.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

struct MigrateOptions {
    std::string schema;
    std::span<const store_kit::Migration> steps;
    bool apply = true;  // false: only check that the schema is the one this program needs
};

// Brings the schema up to date and returns its version. Each step runs in a transaction of its own
// under an advisory lock, so that nodes that start together do not run a step twice. Returns
// kConflict for a schema made by a later program, and with `apply` false for one that is not up to
// date.
Result<int> Migrate(Connection& connection, const MigrateOptions& options,
                    const Deadline& deadline);

// Reads which steps are applied; changes nothing.
Result<store_kit::MigrationStatus> ReadMigrationStatus(Connection& connection,
                                                       const MigrateOptions& options,
                                                       const Deadline& deadline);

}  // namespace ksana::store_postgres

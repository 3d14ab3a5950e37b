#pragma once

#include <span>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_kit/driver/migrations.hpp"
#include "ksana/store_postgres/wire/connection.hpp"

namespace ksana::store_postgres {

struct MigrateOptions {
    std::string schema;
    std::span<const store_kit::Migration> steps;
    bool apply = true;  // false: only refuses a schema that is not what this program needs
};

// Brings the schema up to date, each step in a transaction of its own and under a lock, so that
// nodes that start together do not get in each other's way. A schema made by a later program is
// refused with kConflict. The version that is there now.
Result<int> Migrate(Connection& connection, const MigrateOptions& options,
                    const Deadline& deadline);

Result<store_kit::MigrationStatus> ReadMigrationStatus(Connection& connection,
                                                       const MigrateOptions& options,
                                                       const Deadline& deadline);

}  // namespace ksana::store_postgres

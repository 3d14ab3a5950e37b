#pragma once

#include <memory>

#include "ksana/base/result.hpp"
#include "ksana/store_kit/backend.hpp"
#include "ksana/store_kit/migrations.hpp"
#include "ksana/store_postgres/postgres_options.hpp"

namespace ksana::store_postgres {

// Connects, brings the schema up to date (options.migrate) and starts listening to other nodes.
// Clock and Random must outlive the backend.
Result<std::unique_ptr<store_kit::Backend>> OpenPostgres(const PostgresOptions& options);

// What the database has; changes nothing, also where there is no schema yet.
Result<store_kit::MigrationStatus> PostgresMigrationStatus(const PostgresOptions& options);

}  // namespace ksana::store_postgres

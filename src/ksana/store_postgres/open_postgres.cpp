#include "ksana/store_postgres/open_postgres.hpp"

#include "ksana/store_postgres/migrations/migrate.hpp"
#include "ksana/store_postgres/migrations/migration_steps.hpp"
#include "ksana/store_postgres/postgres_backend.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

Result<std::unique_ptr<store_kit::Backend>> OpenPostgres(const PostgresOptions& options) {
    KSANA_TRY_VOID(CheckSchemaName(options.schema));
    if (options.pool_size == 0) {
        return Error(Code::kInvalidArgument, "a pool needs at least one connection");
    }
    auto backend = std::make_unique<PostgresBackend>(options);
    KSANA_TRY_VOID(backend->Start());
    return std::unique_ptr<store_kit::Backend>(std::move(backend));
}

Result<store_kit::MigrationStatus> PostgresMigrationStatus(const PostgresOptions& options) {
    KSANA_TRY_VOID(CheckSchemaName(options.schema));
    const Deadline deadline(options.clock, options.call_timeout);
    auto made = Connection::Open({.url = options.url,
                                  .schema = options.schema,
                                  .prepare = options.prepare,
                                  .statement_timeout = options.call_timeout},
                                 deadline.Sooner(options.connect_timeout));
    if (auto* fault = std::get_if<Fault>(&made)) return std::move(fault->error);
    return ReadMigrationStatus(*std::get<0>(made),
                               {.schema = options.schema, .steps = MigrationSteps()}, deadline);
}

}  // namespace ksana::store_postgres

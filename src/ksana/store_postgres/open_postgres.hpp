#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/driver/migrations.hpp"

namespace ksana::store_postgres {

struct PostgresOptions {
    std::string url;  // postgresql://… or "key=value …"
    Clock& clock;     // for waits and backoff only: leases use the server's clock
    // Jitter and the node's name; the backend guards it, so it need not be thread-safe.
    Random& random;
    std::size_t pool_size = 8;
    Duration connect_timeout = std::chrono::seconds(5);
    Duration call_timeout = std::chrono::seconds(10);  // of a whole call, retries included
    std::string schema = "ksana";
    // Whether to notify and listen to other nodes. Turn off behind a transaction pooler, which
    // gives no connection of one's own: changes by other nodes are then noticed by polling only.
    bool listen = true;
    bool migrate = true;
    // Whether to prepare statements and change session settings. Turn off behind a transaction
    // pooler: every statement is then sent unnamed and planned at each call.
    bool prepare = true;
};

// Connects, brings the schema up to date (options.migrate) and starts listening to other nodes
// (options.listen). `clock` and `random` must outlive the backend. Returns kInvalidArgument for bad
// options, kConflict for a schema of another version, kUnavailable if the server is unreachable.
Result<std::unique_ptr<store_kit::Backend>> OpenPostgres(const PostgresOptions& options);

// Reads which migration steps the database has. Changes nothing, even if there is no schema yet.
Result<store_kit::MigrationStatus> PostgresMigrationStatus(const PostgresOptions& options);

}  // namespace ksana::store_postgres

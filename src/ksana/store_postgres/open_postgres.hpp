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
    Clock& clock;     // for waits and backoff only: leases go by the server's clock
    Random& random;   // jitter and the node's name; guarded here, need not be thread-safe
    std::size_t pool_size = 8;
    Duration connect_timeout = std::chrono::seconds(5);
    Duration call_timeout = std::chrono::seconds(10);  // of a whole call, retries included
    std::string schema = "ksana";
    // Whether other nodes are told and listened to. Off behind a transaction pooler, which gives
    // no connection of one's own: then others are noticed by polling alone.
    bool listen = true;
    bool migrate = true;
    // Off behind a transaction pooler: every statement is sent unnamed, and no session setting is
    // made. Costs planning at each call.
    bool prepare = true;
};

// Connects, brings the schema up to date (options.migrate) and starts listening to other nodes.
// Clock and Random must outlive the backend.
Result<std::unique_ptr<store_kit::Backend>> OpenPostgres(const PostgresOptions& options);

// What the database has; changes nothing, also where there is no schema yet.
Result<store_kit::MigrationStatus> PostgresMigrationStatus(const PostgresOptions& options);

}  // namespace ksana::store_postgres

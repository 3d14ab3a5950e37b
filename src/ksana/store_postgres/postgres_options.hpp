#pragma once

#include <cstddef>
#include <string>

#include "ksana/base/clock.hpp"
#include "ksana/base/random.hpp"
#include "ksana/base/time.hpp"

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

}  // namespace ksana::store_postgres

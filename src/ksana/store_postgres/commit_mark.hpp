#pragma once

#include <cstdint>

namespace ksana::store_postgres {

// By what a transaction is found again when the answer to its COMMIT got lost.
struct CommitMark {
    std::int64_t xid = 0;
    std::int64_t server_life = 0;  // changes when the server is started or recovers from a crash
};

// SQL of that number: when the server was started, and when its statistics were begun anew, which a
// recovery does.
#define KSANA_SERVER_LIFE                                                         \
    "(extract(epoch from pg_postmaster_start_time()) * 1000000 + "                \
    "coalesce(extract(epoch from pg_stat_get_bgwriter_stat_reset_time()), 0) * 7" \
    ")::bigint"

}  // namespace ksana::store_postgres

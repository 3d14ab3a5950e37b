#pragma once

#include "ksana/base/clock.hpp"
#include "ksana/store_sqlite/connection.hpp"
#include "ksana/store_sqlite/job_cache.hpp"
#include "ksana/store_sqlite/policy_cache.hpp"
#include "ksana/store_sqlite/running_cache.hpp"

namespace ksana::store_sqlite {

// What all connections of a backend share.
struct Shared {
    Clock& clock;
    PolicyCache policies;
    JobCache jobs;
};

// A connection and what reading rows with it needs. One thread at a time.
struct Session {
    Connection& connection;
    Shared& shared;
};

// The writer's.
struct WriteSession : Session {
    PolicyWriter policy_writer;
    RunningCache running;
};

}  // namespace ksana::store_sqlite

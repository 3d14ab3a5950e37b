#pragma once

#include <optional>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/ids/uuid_table.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store_sqlite/rows/policy_cache.hpp"
#include "ksana/store_sqlite/rows/running_cache.hpp"
#include "ksana/store_sqlite/rows/sequence_cache.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// Shared by all connections of a backend.
struct Shared {
    Clock& clock;
    PolicyCache policies;
};

// A connection and what is needed to read rows with it. One thread at a time.
struct ReadSession {
    Connection& connection;
    Shared& shared;
    SequenceCache* seqs = nullptr;  // the writer's cache; null for a reader
};

// The session of the writer, used by the writer thread only.
struct WriteSession : ReadSession {
    PolicyWriter policy_writer;
    RunningCache running;
    SequenceCache seq_book;
    // Highest id of all runs; none: not known yet. After a rollback it may be too high, which only
    // causes lookups of ids that do not exist.
    std::optional<Uuid> newest;
    // Runs of this transaction that are recorded as ended (job_history.hpp) but not updated yet.
    UuidTable<bool> noted;
};

}  // namespace ksana::store_sqlite

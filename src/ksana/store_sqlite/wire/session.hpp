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

// What all connections of a backend share.
struct Shared {
    Clock& clock;
    PolicyCache policies;
};

// A connection and what reading rows with it needs. One thread at a time.
struct ReadSession {
    Connection& connection;
    Shared& shared;
    SequenceCache* seqs = nullptr;  // of the writer
};

// The writer's.
struct WriteSession : ReadSession {
    PolicyWriter policy_writer;
    RunningCache running;
    SequenceCache seq_book;
    // No run has a greater id; nothing: not known yet. A rollback leaves it too great, which only
    // means to look for ids that are not there.
    std::optional<Uuid> newest;
    // Runs of this transaction that are noted as ended (job_history.hpp) and not yet written so.
    UuidTable<bool> noted;
};

}  // namespace ksana::store_sqlite

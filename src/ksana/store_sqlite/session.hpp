#pragma once

#include <optional>

#include "ksana/base/clock.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/base/uuid_table.hpp"
#include "ksana/store_sqlite/connection.hpp"
#include "ksana/store_sqlite/policy_cache.hpp"
#include "ksana/store_sqlite/running_cache.hpp"
#include "ksana/store_sqlite/seq_book.hpp"

namespace ksana::store_sqlite {

// What all connections of a backend share.
struct Shared {
    Clock& clock;
    PolicyCache policies;
};

// A connection and what reading rows with it needs. One thread at a time.
struct Session {
    Connection& connection;
    Shared& shared;
    SeqBook* seqs = nullptr;  // of the writer
};

// The writer's.
struct WriteSession : Session {
    PolicyWriter policy_writer;
    RunningCache running;
    SeqBook seq_book;
    // No run has a greater id; nothing: not known yet. A rollback leaves it too great, which only
    // means to look for ids that are not there.
    std::optional<Uuid> newest;
    // Runs of this transaction that are noted as ended (job_history.hpp) and not yet written so.
    UuidTable<bool> noted;
};

}  // namespace ksana::store_sqlite

#pragma once

#include "ksana/store_postgres/rows/run_batch.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// The functions below build statements that write runs, each for a whole batch.

// Inserts into `runs`, or into `finished_runs` if all runs are final. A run that is in the other
// table counts as existing.
struct InsertMode {
    bool final = false;
    // True: skips existing runs and returns the ids of the inserted ones. False: one existing run
    // makes the statement fail (FaultKind::kDuplicate), and nothing is returned.
    bool look = false;
};
Statement InsertRunsStatement(const RunBatch& batch, InsertMode mode);
// Updates the status of unfinished runs. With `tells` it returns id, ctid and xmin of each row that
// it has written. With versions (RunBatch::versioned) this statement and the next two skip the rows
// that have another version by now.
Statement UpdateRunsStatement(const RunBatch& batch, bool tells = false);
// Moves runs that became final to `finished_runs`. Unchanged columns are copied on the server.
Statement FinishRunsStatement(const RunBatch& batch);
// Deletes unfinished runs, but neither their attempts nor their keys.
Statement DeleteRunsStatement(const RunBatch& batch);

}  // namespace ksana::store_postgres

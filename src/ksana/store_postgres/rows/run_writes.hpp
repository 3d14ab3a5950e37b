#pragma once

#include "ksana/store_postgres/rows/run_batch.hpp"
#include "ksana/store_postgres/wire/connection.hpp"

namespace ksana::store_postgres {

// Statements that write runs, each one for a whole batch.

// Into `runs`, or into `finished_runs` where all are final. What is in the other table already is
// not new either.
struct InsertMode {
    bool final = false;
    // Leaves out what is not new and answers the ids of the others; otherwise one run that is not
    // new makes the statement fail (FaultKind::kDuplicate), and nothing is answered.
    bool look = false;
};
Statement InsertRunsStatement(const RunBatch& batch, InsertMode mode);
// The status of unfinished runs; where it `tells`, the answer is id, place and writer of each row
// that it has made. Of a batch with versions (RunBatch::versioned) this and those that follow leave
// out what has another one by now.
Statement UpdateRunsStatement(const RunBatch& batch, bool tells = false);
// Runs that became final: moves them; what stays the same does not travel.
Statement FinishRunsStatement(const RunBatch& batch);
// Unfinished runs, and nothing that stands outside their rows.
Statement DeleteRunsStatement(const RunBatch& batch);

}  // namespace ksana::store_postgres

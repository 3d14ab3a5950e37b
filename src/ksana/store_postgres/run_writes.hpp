#pragma once

#include <string>

#include "ksana/store_postgres/connection.hpp"
#include "ksana/store_postgres/run_columns.hpp"

namespace ksana::store_postgres {

// Statements that write runs, each one for a whole batch.

// Into `runs`, or into `finished_runs` where all are final. Answers the ids that were inserted.
// What is in the other table already is left out; so is what is in this one, if it has to look for
// it, and is an error otherwise.
struct InsertMode {
    bool final = false;
    bool look = false;
};
Statement InsertRunsStatement(const RunRows& rows, InsertMode mode);
// The status of unfinished runs.
Statement UpdateRunsStatement(const RunRows& rows);
// Runs that became final: moves them; what stays the same does not travel.
Statement FinishRunsStatement(const RunRows& rows);

}  // namespace ksana::store_postgres

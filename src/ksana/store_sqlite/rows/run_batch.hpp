#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ksana/model/run/run.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"

namespace ksana::store_sqlite {

// Its payload stands in the table payloads.
bool HasLongPayload(const model::Run& run);

// It is an ended run of a job, and has a time to be listed by (job_history.hpp).
bool HasFinalAt(const model::Run& run);

// Counts a run that is scheduled, queued or running, by its column `gate`.
void CountOpenRun(std::int64_t gate, store_kit::OverlapCounts& counts);

// Runs that are about to be written, as a table (a virtual one, `run_batch`) that a statement of
// the same connection selects from. Thus one statement writes many rows: it opens the table and
// each of its indexes once, which for a single row takes longer than the row.
class RunBatch {
  public:
    RunBatch() = default;
    RunBatch(const RunBatch&) = delete;
    RunBatch& operator=(const RunBatch&) = delete;

    // Makes the table known; called once, and this must outlive the connection.
    int Register(sqlite3* database);

    // Rows of which all columns are wanted; the numbers are those of the rows and of the policies.
    void Fill(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs,
              const std::vector<std::int64_t>& policies);
    // Rows of which only the columns of the status are.
    void FillStatus(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs);
    // Rows of which only the number is.
    void FillSeqs(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs);

    struct Row {
        const model::Run* run = nullptr;
        std::int64_t seq = 0;
        std::string place;
        std::string final_key;  // empty: none (run_lanes.hpp)
        std::string fixed;
        std::string status;
    };
    const Row* At(std::size_t index) const { return index < count_ ? &rows_[index] : nullptr; }

  private:
    std::vector<Row> rows_;  // with the room of earlier batches
    std::size_t count_ = 0;
};

}  // namespace ksana::store_sqlite

#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ksana/model/run/run.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"

namespace ksana::store_sqlite {

// Returns whether the payload goes into the table payloads.
bool HasLongPayload(const model::Run& run);

// Returns whether this is a finished run of a job that has a time to be listed by
// (job_history.hpp).
bool HasFinalAt(const model::Run& run);

// Adds a scheduled, queued or running run, given by its column `gate`, to the counts.
void CountOpenRun(std::int64_t gate, store_kit::OverlapCounts& counts);

// Runs to be written, as the virtual table `run_batch` from which a statement of the same
// connection selects. One statement thus writes many rows: it opens the table and each of its
// indexes once, which takes longer than writing a single row. Owned by its Connection; one thread
// at a time. The runs must live until the statement has run.
class RunBatch {
  public:
    RunBatch() = default;
    RunBatch(const RunBatch&) = delete;
    RunBatch& operator=(const RunBatch&) = delete;

    // Registers the virtual table. Call once; the batch must outlive the connection.
    int Register(sqlite3* database);

    // Fills the batch with all columns. `seqs` and `policies` are the numbers of the rows and
    // policies.
    void Fill(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs,
              const std::vector<std::int64_t>& policies);
    // Fills the batch with seq and the columns of the status.
    void FillStatus(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs);
    // Fills the batch with seq only.
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
    std::vector<Row> rows_;  // keeps the capacity of earlier batches
    std::size_t count_ = 0;
};

}  // namespace ksana::store_sqlite

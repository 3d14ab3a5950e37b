#pragma once

#include <optional>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// Runs and attempts as rows.

namespace ksana::store_sqlite {

// Reads the current row of `query`, whose columns are KSANA_RUN_COLUMNS. `run` must be new: fields
// with their default are not in the row.
Result<void> ReadInto(ReadSession& session, Query& query, model::Run& run);
// Reads all remaining rows.
Result<std::vector<model::Run>> ReadRuns(ReadSession& session, Query& query);
// Reads the runs in the range, in order.
Result<std::vector<model::Run>> ReadRange(ReadSession& session, const PlaceRange& range,
                                          std::size_t limit);
Result<std::optional<model::Run>> ReadOneRun(ReadSession& session, Query& query);

Result<std::vector<model::Run>> LoadRuns(ReadSession& session, const std::vector<Uuid>& ids);
Result<std::vector<model::Attempt>> LoadAttempts(ReadSession& session,
                                                 const std::vector<Uuid>& ids);

// Returns for each run whether it was inserted: false if its id or its fire exists.
Result<std::vector<bool>> InsertRunRows(WriteSession& session, const store_kit::RunRefs& runs);
// The runs must exist.
Result<void> UpdateRunRows(WriteSession& session, const store_kit::RunRefs& runs);
// The runs must exist. Also deletes their attempts, payloads, tags and keys.
Result<void> DeleteRunRows(WriteSession& session, const store_kit::RunRefs& runs);
Result<void> InsertAttemptRows(ReadSession& session, const std::vector<model::Attempt>& attempts);

}  // namespace ksana::store_sqlite

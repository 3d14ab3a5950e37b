#pragma once

#include <optional>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// Runs and attempts as rows.

namespace ksana::store_sqlite {

// The run in the row that `query` stands on, whose columns are KSANA_RUN_COLUMNS. Into a fresh one:
// what is not in the row stays as it is.
Result<void> ReadInto(ReadSession& session, Query& query, model::Run& run);
// All rows that are left.
Result<std::vector<model::Run>> ReadRuns(ReadSession& session, Query& query);
// Those that stand there, in order.
Result<std::vector<model::Run>> ReadRange(ReadSession& session, const PlaceRange& range,
                                          std::size_t limit);
Result<std::optional<model::Run>> ReadOneRun(ReadSession& session, Query& query);

Result<std::vector<model::Run>> LoadRuns(ReadSession& session, const std::vector<Uuid>& ids);
Result<std::vector<model::Attempt>> LoadAttempts(ReadSession& session,
                                                 const std::vector<Uuid>& ids);

Result<std::vector<bool>> InsertRunRows(WriteSession& session, const store_kit::RunRefs& runs);
// They are there.
Result<void> UpdateRunRows(WriteSession& session, const store_kit::RunRefs& runs);
// They are there. With attempts, payload and key.
Result<void> DeleteRunRows(WriteSession& session, const store_kit::RunRefs& runs);
Result<void> InsertAttemptRows(ReadSession& session, const std::vector<model::Attempt>& attempts);

}  // namespace ksana::store_sqlite

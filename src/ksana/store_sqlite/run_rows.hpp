#pragma once

#include <optional>
#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/model/run.hpp"
#include "ksana/store_sqlite/session.hpp"

// Runs and attempts as rows.

namespace ksana::store_sqlite {

// The run in the row that `query` stands on, whose columns are KSANA_RUN_COLUMNS.
Result<model::Run> ReadRun(Session& session, Query& query);
// All rows that are left.
Result<std::vector<model::Run>> ReadRuns(Session& session, Query& query);
Result<std::optional<model::Run>> ReadOneRun(Session& session, Query& query);

Result<std::vector<model::Run>> LoadRuns(Session& session, const std::vector<Uuid>& ids);
Result<std::vector<model::Attempt>> LoadAttempts(Session& session, const std::vector<Uuid>& ids);

Result<std::vector<bool>> InsertRunRows(WriteSession& session, const std::vector<model::Run>& runs);
Result<void> UpdateRunRows(WriteSession& session, const std::vector<model::Run>& runs);
// With attempts, payload and key.
Result<void> DeleteRunRows(WriteSession& session, const std::vector<Uuid>& ids);
Result<void> InsertAttemptRows(Session& session, const std::vector<model::Attempt>& attempts);

}  // namespace ksana::store_sqlite

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/store_kit/driver/rows.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// Reads that a reader and a transaction share; store_kit/driver/rows.hpp has their contracts.

namespace ksana::store_sqlite::reads {

Result<store_kit::ListedRuns> ListRuns(ReadSession& session, const store_kit::RunList& list);
Result<store::Counted> CountRuns(ReadSession& session, const store_kit::RunList& list,
                                 std::int64_t most);
Result<store_kit::ListedJobs> ListJobs(ReadSession& session, const store_kit::JobList& list);
Result<store::Counted> CountJobs(ReadSession& session, const store_kit::JobList& list,
                                 std::int64_t most);
Result<std::vector<model::LedgerEntry>> ListLedger(ReadSession& session,
                                                   const store_kit::LedgerList& list);
Result<std::vector<model::AuditEvent>> ListEvents(ReadSession& session,
                                                  const store_kit::EventList& list);
Result<std::vector<model::Document>> ListDocuments(ReadSession& session,
                                                   const store_kit::DocumentList& list);
Result<std::optional<model::Run>> FindFire(ReadSession& session, const std::string& job_id,
                                           TimePoint nominal);
Result<std::vector<store::RunSample>> Samples(ReadSession& session,
                                              const store::StatisticsParams& params,
                                              std::size_t limit);
Result<std::vector<store::QueueDepth>> Depths(ReadSession& session);
Result<store::WakeTimes> NextWake(ReadSession& session);
Result<store::RecordCounts> Counts(ReadSession& session);
Result<std::vector<std::string>> DependantsOf(ReadSession& session, const std::string& job_id);
Result<std::vector<store::GroupSize>> Groups(ReadSession& session, const store::GroupQuery& query);

// Reads the current row of the query.
model::Document ReadDocument(Query& query);

}  // namespace ksana::store_sqlite::reads

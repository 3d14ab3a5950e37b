#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/store_kit/rows.hpp"
#include "ksana/store_sqlite/session.hpp"

// What both a reader and a transaction can be asked; store_kit/rows.hpp says what it means.

namespace ksana::store_sqlite::reads {

Result<store_kit::ListedRuns> ListRuns(Session& session, const store_kit::RunList& list);
Result<store::Counted> CountRuns(Session& session, const store_kit::RunList& list,
                                 std::int64_t most);
Result<store_kit::ListedJobs> ListJobs(Session& session, const store_kit::JobList& list);
Result<store::Counted> CountJobs(Session& session, const store_kit::JobList& list,
                                 std::int64_t most);
Result<std::vector<model::LedgerEntry>> ListLedger(Session& session,
                                                   const store_kit::LedgerList& list);
Result<std::vector<model::AuditEvent>> ListEvents(Session& session,
                                                  const store_kit::EventList& list);
Result<std::vector<model::Document>> ListDocuments(Session& session,
                                                   const store_kit::DocumentList& list);
Result<std::optional<model::Run>> FindFire(Session& session, const std::string& job_id,
                                           TimePoint nominal);
Result<std::vector<store::RunSample>> Samples(Session& session,
                                              const store::StatisticsParams& params,
                                              std::size_t limit);
Result<std::vector<store::QueueDepth>> Depths(Session& session);
Result<store::WakeTimes> NextWake(Session& session);
Result<store::RecordCounts> Counts(Session& session);
Result<std::vector<std::string>> DependantsOf(Session& session, const std::string& job_id);
Result<std::vector<store::GroupSize>> Groups(Session& session, const store::GroupQuery& query);

// Of the row that the query stands on.
model::Document ReadDocument(Query& query);

}  // namespace ksana::store_sqlite::reads

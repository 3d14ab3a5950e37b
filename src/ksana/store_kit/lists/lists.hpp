#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_kit/driver/rows.hpp"

namespace ksana::store_kit {

// Queries of the contract as drivers get them, and what they found as a page with its cursor.
Result<RunList> ListOf(const store::RunQuery& query);
store::Page<model::Run> PageOf(const store::RunQuery& query, ListedRuns listed);

Result<JobList> ListOf(const store::JobQuery& query);
store::Page<model::Job> PageOf(const store::JobQuery& query, ListedJobs listed);

// Where an item stands in its list.
RunList::After PlaceOf(const model::Run& run, store::RunSort sort);
JobList::After PlaceOf(const model::Job& job, store::JobSort sort);

// The value a job is sorted by under the time sorts.
std::int64_t SortTime(const model::Job& job, store::JobSort sort);
std::int64_t SortTime(const model::Run& run, store::RunSort sort);

// A cursor that is a sequence number; 0 for the first page.
Result<std::int64_t> ParseSeq(std::string_view sort, std::string_view cursor);
std::string SeqCursor(std::string_view sort, std::int64_t seq);

Result<std::size_t> CheckLimit(std::size_t limit);

// Whether a row is what a filter asks for: the meaning that conditions in SQL are held to.
bool Matches(const RunList& list, const model::Run& run);
bool Matches(const JobList& list, const model::Job& job);
bool Matches(const EventList& list, const model::AuditEvent& event);

}  // namespace ksana::store_kit

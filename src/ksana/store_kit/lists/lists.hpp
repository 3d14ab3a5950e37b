#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_kit/driver/rows.hpp"

namespace ksana::store_kit {

// Turn a query into the form for drivers (kInvalidArgument for a bad cursor or limit), and the rows
// found into a page with its cursor.
Result<RunList> ListOf(const store::RunQuery& query);
store::Page<model::Run> PageOf(const store::RunQuery& query, ListedRuns listed);

Result<JobList> ListOf(const store::JobQuery& query);
store::Page<model::Job> PageOf(const store::JobQuery& query, ListedJobs listed);

// Return the place of an item in its list.
RunList::After PlaceOf(const model::Run& run, store::RunSort sort);
JobList::After PlaceOf(const model::Job& job, store::JobSort sort);

// Return the value of the time sorts, in microseconds: kNoTime if missing, 0 for other sorts.
std::int64_t SortTime(const model::Job& job, store::JobSort sort);
std::int64_t SortTime(const model::Run& run, store::RunSort sort);

// A cursor that holds a sequence number; 0 means the first page.
Result<std::int64_t> ParseSeq(std::string_view sort, std::string_view cursor);
std::string SeqCursor(std::string_view sort, std::int64_t seq);

// Returns the limit, or kInvalidArgument if it is not between 1 and kMaxPageSize.
Result<std::size_t> CheckLimit(std::size_t limit);

// Return whether a row matches the filter. Reference for the SQL conditions of the drivers.
bool Matches(const RunList& list, const model::Run& run);
bool Matches(const JobList& list, const model::Job& job);
bool Matches(const EventList& list, const model::AuditEvent& event);

}  // namespace ksana::store_kit

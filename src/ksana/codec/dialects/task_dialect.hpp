#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/new_task.hpp"
#include "ksana/model/run/run.hpp"

// Asynchronous tasks in the terms of document T. Ids are texts that hold UUIDs.

namespace ksana::codec {

// Returns a task as the document describes it (T-01), with null for missing values, and for the
// exec_id.
std::string TaskToJson(const model::Run& run);
std::string TasksToJson(std::span<const model::Run> runs);
// The same with the exec_id, for the agent that has just fetched the tasks.
std::string FetchedTasksToJson(std::span<const model::Run> runs);

// The body of a submission: one task, or an array.
struct SubmittedTasks {
    std::vector<model::NewTask> tasks;
    bool is_list = false;
};
Result<SubmittedTasks> SubmittedTasksFromJson(std::string_view text, std::size_t max_bytes,
                                              std::size_t most);

// What an agent requests (T-03). The text may give types and categories as one name or as an array.
struct TaskFetch {
    std::vector<std::string> types;
    std::vector<std::string> categories;
    std::string tenant;
    std::string creator;
    std::int32_t limit = 1;
};
Result<TaskFetch> TaskFetchFromJson(std::string_view text);

// Reads an agent's report, Success, Completed, Error or Failure, as the corresponding event (T-02,
// T-10).
Result<model::Event> TaskReportFromJson(std::string_view text);

// Returns the log of a periodic task (T-14), one entry for each run.
std::string PeriodicLogToJson(std::span<const model::Run> runs);

}  // namespace ksana::codec

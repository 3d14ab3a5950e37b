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

// Async tasks in the words of document T. Ids are texts: inside they are UUIDs.

namespace ksana::codec {

// A task as the document draws it (T-01); null where there is nothing.
std::string TaskToJson(const model::Run& run);
std::string TasksToJson(std::span<const model::Run> runs);

// What is submitted: one task, or an array of them.
struct SubmittedTasks {
    std::vector<model::NewTask> tasks;
    bool is_list = false;
};
Result<SubmittedTasks> SubmittedTasksFromJson(std::string_view text, std::size_t max_bytes,
                                              std::size_t most);

// What an agent asks for (T-03). Types and categories may be one name or an array.
struct TaskFetch {
    std::vector<std::string> types;
    std::vector<std::string> categories;
    std::string tenant;
    std::string creator;
    std::int32_t limit = 1;
};
Result<TaskFetch> TaskFetchFromJson(std::string_view text);

// What an agent reports: Success, Completed, Error or Failure, as the event it is (T-02, T-10).
Result<model::Event> TaskReportFromJson(std::string_view text);

// Lines of a periodic task's log (T-14), of its runs.
std::string PeriodicLogToJson(std::span<const model::Run> runs);

}  // namespace ksana::codec

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/api/dispatcher/numbered_page.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// The executions of a task, for one request. Each is made from a run and its attempts
// (codec/dispatcher/dispatcher_execution.hpp). Thread-safe: it has no state of its own. The store's
// errors are returned.
class TaskHistory {
  public:
    // `store` must outlive it.
    explicit TaskHistory(store::Store& store) : store_(store) {}

    // Returns a page of the executions of a task, the newest run first and in it the latest retry.
    // The total is a lower bound where counting further would read too much.
    Result<NumberedItems> Page(const std::string& task_id, const NumberedPage& page) const;

    // Returns the newest executions, at most `most`.
    Result<std::vector<std::string>> Recent(const std::string& task_id, std::size_t most) const;

    // Returns one execution with its log, or none if the task has no such execution.
    Result<std::optional<std::string>> Find(const std::string& task_id,
                                            const std::string& execution_id) const;

    // Returns the statistics of a task as a JSON object. A run counts once, by how it ended after
    // its retries.
    Result<std::string> Statistics(const std::string& task_id) const;

  private:
    store::Store& store_;
};

}  // namespace ksana::api

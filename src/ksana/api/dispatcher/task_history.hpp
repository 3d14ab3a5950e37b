#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ksana/api/dispatcher/numbered_page.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/dispatcher/dispatcher_execution.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// The executions of a task, for one request. Each is made from a run and its attempts
// (codec/dispatcher/dispatcher_execution.hpp). Thread-safe: it has no state of its own. The store's
// errors are returned.
class TaskHistory {
  public:
    // Tells of a run whether it goes to workers through a message broker.
    using IsPublished = std::function<bool(const model::Run& run)>;

    // `store` must outlive it. `published` may be empty: none does.
    explicit TaskHistory(store::Store& store, IsPublished published = {})
        : store_(store), published_(std::move(published)) {}

    // Returns the executions of a run (codec::ExecutionsOf).
    std::vector<codec::DispatcherExecution> Executions(
        const model::Run& run, const std::vector<model::Attempt>& attempts) const;

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
    const IsPublished published_;
};

}  // namespace ksana::api

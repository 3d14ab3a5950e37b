#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/sdk/run/job_entry.hpp"
#include "ksana/task_context.hpp"

namespace ksana::sdk {

// The handlers of a program, by type of task. Each is an entry that the JobRunner runs like a job,
// but any number of times at once. Shared by the executors of tasks and of handler jobs.
// Thread-safe.
class TaskHandlers {
  public:
    // kInvalidArgument: the type is no identifier; kAlreadyExists: it has a handler.
    Result<void> Add(std::string type, TaskHandler handler);
    // Returns null if there is none. Valid as long as the object.
    JobEntry* Find(std::string_view type) const;
    std::vector<std::string> types() const;
    bool empty() const { return types().empty(); }

  private:
    mutable Mutex mutex_;
    std::map<std::string, std::unique_ptr<JobEntry>, std::less<>> entries_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::sdk

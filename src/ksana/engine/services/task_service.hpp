#pragma once

#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/engine/agents/agent_polls.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/run/new_task.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

using model::NewTask;

// Accepts tasks from all APIs (T-01). A task becomes a run without a job. Settings that it omits
// come from its type, else from the server's defaults, and are fixed on the run. An unknown type is
// accepted: its runs wait for an agent that serves it. Owned by the server. Thread-safe; calls run
// on the caller's thread.
class TaskService {
  public:
    // `store`, `polls`, `workers` and the objects behind `find_type` must outlive the service.
    // Without `polls` every task is queued first; without `workers` no task is sticky.
    TaskService(store::Store& store, FindType find_type, model::PolicyDefaults defaults,
                AgentPolls* polls = nullptr, WorkerDirectory* workers = nullptr)
        : store_(store),
          find_type_(std::move(find_type)),
          defaults_(std::move(defaults)),
          polls_(polls),
          workers_(workers) {}

    // Stores up to store::kMaxBatch tasks in one transaction. Returns one result per task, in
    // order: kStored; kSameKey with the run that holds the unique key; kSameId if the call was made
    // before, or (`other`) if another run has the id. kInvalidArgument lists up to about a hundred
    // problems of all tasks, with paths below "/runs/17", and nothing is stored. There is no audit
    // event: the run records who made it, and when.
    Result<std::vector<store::Submitted>> Submit(std::vector<NewTask> tasks);

    // Submits one task. Problems have paths within the task ("/priority"). The result of kStored
    // and of kStarted (a waiting agent got the run) has the run in `started`.
    Result<store::Submitted> SubmitOne(NewTask task);

    // Returns the error for a task whose id belongs to another run.
    static Error OtherTask(const Uuid& id);

  private:
    Result<std::vector<model::Run>> RunsOf(std::vector<NewTask> tasks);
    // Puts selector and preference into a run whose other members are set.
    void Place(model::Placement placement, model::Run& run) const;

    store::Store& store_;
    const FindType find_type_;
    const model::PolicyDefaults defaults_;
    AgentPolls* const polls_;         // may be null
    WorkerDirectory* const workers_;  // may be null
};

}  // namespace ksana::engine

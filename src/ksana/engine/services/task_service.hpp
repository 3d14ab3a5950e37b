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

// Where tasks come in, whichever door they come through (T-01). A task becomes a run without a job;
// what it does not say is its type's, else the server's, and is frozen on the run. A type that
// nobody knows is none the worse: its runs wait for an agent that serves it. Thread-safe.
class TaskService {
  public:
    // `store` and `polls` must outlive it. Without polls every task is queued first.
    TaskService(store::Store& store, FindType find_type, model::PolicyDefaults defaults,
                AgentPolls* polls = nullptr)
        : store_(store),
          find_type_(std::move(find_type)),
          defaults_(std::move(defaults)),
          polls_(polls) {}

    // One outcome for each task, in order: kStored; kSameKey with the run that holds its unique
    // key; kSameId when the call came before, or (`other`) when another run has the id. The rest is
    // stored, all of it or none. kInvalidArgument names every
    // fault of every task, below "/runs/17". There is no audit event: the run tells who made it,
    // and when.
    Result<std::vector<store::Submitted>> Submit(std::vector<NewTask> tasks);

    // One alone: faults are named from the task itself ("/priority"), and the outcome of kStored
    // and of kStarted (an agent's poll waited for it) has the run in `started`.
    Result<store::Submitted> SubmitOne(NewTask task);

    // What is said where the id of a task is that of another run.
    static Error OtherTask(const Uuid& id);

  private:
    Result<std::vector<model::Run>> RunsOf(std::vector<NewTask> tasks);

    store::Store& store_;
    const FindType find_type_;
    const model::PolicyDefaults defaults_;
    AgentPolls* const polls_;  // may be null
};

}  // namespace ksana::engine

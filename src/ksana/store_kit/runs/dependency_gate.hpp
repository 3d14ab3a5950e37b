#pragma once

#include <map>
#include <string>
#include <vector>

#include "ksana/model/job/dependency.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// Decides which runs must wait for the jobs that their jobs depend on. Locks those jobs: the end of
// one of their runs locks them too, so that a run cannot begin to wait for an end that is being
// written at the same time. Lives for one transaction. Not thread-safe.
class DependencyGate {
  public:
    DependencyGate(Transaction& tx, TimePoint now) : tx_(tx), now_(now) {}

    // Returns whether the run has to be asked about before it starts.
    static bool Concerns(const model::Run& run) {
        return run.policy.depends && run.status.attempt == 0 && !run.job_id.empty() &&
               !(run.status.wait_until && !run.status.blocked);
    }

    // Reads and locks what Ask needs to know about these runs. May be called again for others.
    Result<void> Lock(const RunRefs& runs);

    // Returns the event that happens to the run: kBlock, kSkip, or kUnblock where it may start.
    Result<model::Event> Ask(const model::Run& run);

  private:
    Result<model::ParentState> StateOf(const std::string& parent, const model::Run& run);
    Result<model::ParentState> LatestOf(const model::Job& parent);

    Transaction& tx_;
    TimePoint now_;
    std::map<std::string, model::Job> jobs_;  // of the runs; absent: deleted meanwhile
    std::map<std::string, model::Job> parents_;
    std::map<std::string, model::ParentState> latest_;
};

}  // namespace ksana::store_kit

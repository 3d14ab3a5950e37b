#pragma once

#include <map>
#include <string>
#include <vector>

#include "ksana/engine/dispatch/executor.hpp"

namespace ksana::worker {

// Programs of this machine that carry out tasks, by type: `ksana worker --handler TYPE=COMMAND`.
// The operator of the machine chose them, so they need no permission for commands of jobs. The
// payload of the task reaches the program as KSANA_PAYLOAD_FILE. Thread-safe.
class LocalCommands final : public engine::Executor {
  public:
    using Programs = std::map<std::string, std::vector<std::string>, std::less<>>;  // argv by type

    // Takes runs of `kind`, kQueue or kHandler. `commands`, which runs the programs, must outlive
    // the object.
    LocalCommands(model::ActionKind kind, Programs programs, engine::Executor& commands)
        : kind_(kind), programs_(std::move(programs)), commands_(commands) {}

    model::ActionKind kind() const override { return kind_; }
    std::vector<std::string> types() const override;
    bool tells_news() const override { return commands_.tells_news(); }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override { commands_.Cancel(exec_id); }

  private:
    const model::ActionKind kind_;
    const Programs programs_;
    engine::Executor& commands_;
};

}  // namespace ksana::worker

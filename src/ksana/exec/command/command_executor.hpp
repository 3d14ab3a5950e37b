#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/exec/call_values.hpp"
#include "ksana/exec/command/command_files.hpp"
#include "ksana/exec/command/command_outcome.hpp"
#include "ksana/exec/command/command_output.hpp"
#include "ksana/exec/command/guardian_link.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::exec {

struct CommandOptions {
    TextMap variables;                            // of this process (ProcessVariables)
    std::string folder = "/tmp";                  // where the files of commands are
    Duration silence = std::chrono::seconds(15);  // of this process until its commands are killed
    model::TraceSampler sampler = {};             // for the variable TRACEPARENT
};

// Executes attempts of commands, each as a process that a guardian starts (guardian_process.hpp).
// Enforces the timeout itself: SIGTERM to all processes of the command, and SIGKILL shortly before
// the attempt's stop_grace is over, when the reaper would take the run. Tells log lines and
// progress while the command runs. One thread reads all outputs; memory is bounded by the number of
// attempts.
//
// If the guardian dies, its commands are killed and their attempts fail, to be tried again; the
// next attempt starts another guardian. Owned by the server or worker. Thread-safe; `done` is
// called on the executor's thread or inside Start. The clock must outlive the executor.
class CommandExecutor final : public engine::Executor {
  public:
    CommandExecutor(const Clock& clock, CommandOptions options);
    ~CommandExecutor() override;
    CommandExecutor(const CommandExecutor&) = delete;
    CommandExecutor& operator=(const CommandExecutor&) = delete;

    // Starts the thread and the guardian. Opening twice does nothing.
    Result<void> Open();
    // Kills all commands; their attempts fail, to be tried again. Returns when no process is left.
    void Close();

    model::ActionKind kind() const override { return model::ActionKind::kCommand; }
    bool tells_news() const override { return true; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override;

  private:
    struct Launch {
        std::shared_ptr<const engine::ActiveAttempt> attempt;
        Done done;
    };
    // A command that runs. Belongs to the thread.
    struct Running {
        Running(Launch launched, const std::string& folder, std::size_t output_limit)
            : launch(std::move(launched)),
              files(folder, AttemptIdOf(launch.attempt->run),
                    !launch.attempt->run.payload.empty()),
              output(output_limit) {}

        const engine::ActiveAttempt& attempt() const { return *launch.attempt; }

        Launch launch;
        CommandFiles files;
        CommandOutput output;
        int pipe = -1;             // its output; -1: at its end
        bool wide = false;         // the pipe has been widened
        SteadyPoint overdue_at{};  // when its time is over
        SteadyPoint kill_at = SteadyPoint::max();
        SteadyPoint told_at{};  // when news were told last
        CommandStop stop = CommandStop::kNone;
        bool killed = false;
    };
    using Commands = std::map<std::uint64_t, Running>;

    void Loop(const std::stop_token& stop);
    void WaitAndHandle();
    void Wake() const;
    void TakeInbox();
    void Begin(Launch launch);
    Result<void> Prepare(std::uint64_t id, Running& running);
    Result<void> EnsureGuardian();
    void Watch(int file, std::uint64_t source, std::uint32_t events);
    void ReadPipe(Running& running);
    bool ReadOnce(Running& running);
    void Stop(std::uint64_t id, Running& running, CommandStop why);
    void Receive();
    void Finish(const Ending& ending);
    void LoseAll(const char* why);
    void CheckTimes(SteadyPoint now);
    int UntilNextMs() const;
    void TellNews(Running& running, SteadyPoint now);

    const Clock& clock_;
    const CommandOptions options_;
    int epoll_ = -1;
    int wake_ = -1;

    Mutex mutex_;
    std::vector<Launch> launches_ KSANA_GUARDED_BY(mutex_);
    std::vector<std::string> cancels_ KSANA_GUARDED_BY(mutex_);  // exec ids
    bool open_ KSANA_GUARDED_BY(mutex_) = false;

    // Used by the thread only, and by Open and Close while it does not run:
    std::string folder_;
    GuardianLink guardian_;
    Commands commands_;
    std::unordered_map<std::string, std::uint64_t> by_exec_id_;
    std::uint64_t next_id_ = 1;
    SteadyPoint next_ping_{};
    SteadyPoint next_check_ = SteadyPoint::max();  // a lower bound of what CheckTimes waits for
    bool watches_room_ = false;
    std::string buffer_;

    Mutex opening_;  // Open and Close, one at a time
    LoopThread thread_;
};

}  // namespace ksana::exec

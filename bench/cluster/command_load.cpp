// How fast no-op commands go through the executor, and how fast a bare loop of posix_spawn and
// waitpid starts the same program.
//
//   ksana_command_load bare COUNT
//   ksana_command_load executor COUNT AT_ONCE
//
// Prints {"per_second": N}.

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/exec/command/command_executor.hpp"
#include "ksana/exec/command/command_spec.hpp"

namespace ksana {
namespace {

constexpr const char* kProgram = "/bin/true";

bool RunBare(int count) {
    for (int n = 0; n < count; ++n) {
        std::string program = kProgram;
        const std::array<char*, 2> words = {program.data(), nullptr};
        pid_t pid = 0;
        int status = 0;
        if (posix_spawn(&pid, kProgram, nullptr, nullptr, words.data(), environ) != 0) return false;
        if (waitpid(pid, &status, 0) != pid || status != 0) return false;
    }
    return true;
}

// Keeps a number of attempts under way until all have ended.
class Load {
  public:
    explicit Load(const Clock& clock)
        : clock_(clock), executor_(clock, {.variables = exec::ProcessVariables()}) {
        job_->id = "job";
        job_->action = model::CommandAction{.argv = {kProgram}};
    }

    bool Run(int count, int at_once) {
        if (!executor_.Open()) return false;
        for (int n = 0; n < count; ++n) {
            {
                MutexLock lock(mutex_);
                changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return under_way_ < at_once; });
                ++under_way_;
            }
            Start();
        }
        MutexLock lock(mutex_);
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return under_way_ == 0; });
        return failed_ == 0;
    }

  private:
    void Start() {
        auto attempt = std::make_shared<engine::ActiveAttempt>();
        attempt->job = job_;
        attempt->run.id = ids_.Next();
        attempt->run.job_id = job_->id;
        attempt->run.kind = model::ActionKind::kCommand;
        attempt->run.policy.timeout = std::chrono::minutes(1);
        attempt->run.status.exec_id = ids_.Next().ToString();
        executor_.Start(attempt, [this](const model::Event& event) {
            const MutexLock lock(mutex_);
            --under_way_;
            if (event.kind != model::EventKind::kSuccess) ++failed_;
            changed_.NotifyAll();
        });
    }

    const Clock& clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::shared_ptr<model::Job> job_ = std::make_shared<model::Job>();
    Mutex mutex_;
    CondVar changed_;
    int under_way_ KSANA_GUARDED_BY(mutex_) = 0;
    int failed_ KSANA_GUARDED_BY(mutex_) = 0;
    exec::CommandExecutor executor_;
};

int Main(int argc, char** argv) {
    const std::string_view how = argc > 2 ? argv[1] : "";
    const int count = argc > 2 ? std::atoi(argv[2]) : 0;
    const int at_once = argc > 3 ? std::atoi(argv[3]) : 1;
    const SystemClock clock;
    const SteadyPoint begin = clock.SteadyNow();
    bool done = false;
    if (how == "bare") done = RunBare(count);
    if (how == "executor") done = Load(clock).Run(count, at_once);
    const std::chrono::duration<double> took = clock.SteadyNow() - begin;
    if (!done) return 1;
    fmt::print("{{\"per_second\": {:.1f}}}\n", count / took.count());
    return 0;
}

}  // namespace
}  // namespace ksana

int main(int argc, char** argv) { return ksana::Main(argc, argv); }

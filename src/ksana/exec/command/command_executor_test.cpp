#include "ksana/exec/command/command_executor.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/exec/attempt_fixture.hpp"
#include "ksana/exec/call_values.hpp"
#include "ksana/exec/command/command_spec.hpp"
#include "ksana/exec/command/process_tree.hpp"

namespace ksana::exec {
namespace {

using model::EventKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Runs commands through an executor with its guardian, on the real clock.
class CommandExecutorTest : public ::testing::Test {
  protected:
    CommandExecutorTest() { EXPECT_TRUE(executor_.Open()); }

    // Starts an attempt of the command and returns its exec id.
    std::string Start(model::CommandAction action, const std::string& payload = {},
                      Duration timeout = seconds(60), Duration grace = seconds(30)) {
        auto attempt = std::make_shared<engine::ActiveAttempt>(AttemptOf({}));
        auto job = std::make_shared<model::Job>(*attempt->job);
        job->action = std::move(action);
        attempt->job = job;
        model::Run& run = attempt->run;
        run.kind = model::ActionKind::kCommand;
        run.payload = payload;
        run.policy.timeout = timeout;
        run.policy.stop_grace = grace;
        run.status.deadline = clock_.Now() + timeout;
        run.status.exec_id = "exec-" + std::to_string(getpid()) + "-" + std::to_string(++count_);
        attempt->tell = [this](engine::AttemptNews news) {
            const MutexLock lock(mutex_);
            engine::Append(news_, std::move(news));
            changed_.NotifyAll();
        };
        const std::string exec_id = run.status.exec_id;
        attempt_ids_[exec_id] = AttemptIdOf(run);
        executor_.Start(attempt, [this, exec_id](model::Event event) {
            const MutexLock lock(mutex_);
            events_.emplace(exec_id, std::move(event));
            changed_.NotifyAll();
        });
        return exec_id;
    }

    model::Event Await(const std::string& exec_id) {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return events_.contains(exec_id); });
        return events_.at(exec_id);
    }

    // Waits for a log line.
    void AwaitLine(const std::string& line) {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) {
            return news_.log.find(line) != std::string::npos;
        });
    }

    model::Event Run(model::CommandAction action, const std::string& payload = {}) {
        return Await(Start(std::move(action), payload));
    }

    static model::CommandAction Shell(std::string line, std::vector<std::string> more = {}) {
        model::CommandAction action{.argv = {std::move(line)}, .shell = true};
        for (std::string& word : more) action.argv.push_back(std::move(word));
        return action;
    }

    std::vector<pid_t> ProcessesWith(const std::string& exec_id) const {
        std::vector<pid_t> found;
        for (const pid_t pid : AllProcesses()) {
            if (VariableOf(pid, "KSANA_EXEC_ID") == attempt_ids_.at(exec_id)) found.push_back(pid);
        }
        return found;
    }

    SystemClock clock_;
    Mutex mutex_;
    CondVar changed_;
    std::map<std::string, model::Event> events_ KSANA_GUARDED_BY(mutex_);
    engine::AttemptNews news_ KSANA_GUARDED_BY(mutex_);
    std::map<std::string, std::string> attempt_ids_;  // what the processes get, by exec_id
    int count_ = 0;
    TextMap variables_ = {{"PATH", "/usr/bin:/bin"}, {"SECRET", "s"}, {"TZ", "UTC"}};
    CommandExecutor executor_{clock_, {.variables = variables_}};
};

TEST_F(CommandExecutorTest, ExitCodesDecide) {
    EXPECT_EQ(Run({.argv = {"true"}}).kind, EventKind::kSuccess);
    auto event = Run(Shell("echo why >&2; exit 3"));
    EXPECT_EQ(event.kind, EventKind::kRetryableFailure);
    EXPECT_EQ(event.error, "exit code 3: why");
    EXPECT_NE(event.detail.find(R"("exit_code":3,"output":"why\n","output_bytes":4)"),
              std::string::npos)
        << event.detail;
    EXPECT_EQ(event.log, R"("why")");
    auto permanent = Shell("exit 64");
    permanent.permanent_exit_codes = {64};
    EXPECT_EQ(Run(permanent).kind, EventKind::kPermanentFailure);
    event = Run(Shell("kill -SEGV $$"));
    EXPECT_EQ(event.kind, EventKind::kRetryableFailure);
    EXPECT_EQ(event.error, "killed by SIGSEGV");
}

TEST_F(CommandExecutorTest, WhatCannotStartIsNamed) {
    auto event = Run({.argv = {"no-such-program"}});
    EXPECT_EQ(event.kind, EventKind::kPermanentFailure);
    EXPECT_EQ(event.error, "there is no program \"no-such-program\"");
    EXPECT_EQ(Run({.argv = {"/etc/passwd"}}).error,
              "the program \"/etc/passwd\" cannot be executed: Permission denied");
    event = Run({.argv = {"true"}, .working_directory = "/no/such"});
    EXPECT_EQ(event.error, "working_directory \"/no/such\": No such file or directory");
    EXPECT_EQ(event.kind, EventKind::kPermanentFailure);
    EXPECT_EQ(Run({.argv = {"true"}, .user = "no-such-user"}).error,
              "there is no user \"no-such-user\"");
    EXPECT_EQ(Run({.argv = {"echo", "{{unknown}}"}}).kind, EventKind::kPermanentFailure);
}

// Whatever a parameter holds, it stays one argument and no shell reads it.
TEST_F(CommandExecutorTest, ParametersAreNeverCommands) {
    const std::string payload = R"({"name":"; touch $(id) `id` 'x' \" | \n"})";
    const auto event = Run({.argv = {"printf", "<%s>", "a{{name}}b", "c"}}, payload);
    EXPECT_NE(event.detail.find(R"(<a; touch $(id) `id` 'x' \" | \nb><c>)"), std::string::npos)
        << event.detail;
    const auto shell = Run(
        Shell("printf '<%s>' \"$0\" \"$1\"; cat \"$KSANA_PAYLOAD_FILE\"", {"{{name}}"}), payload);
    EXPECT_NE(shell.detail.find(R"(<sh><; touch $(id) `id` 'x' \" | \n>{\"name\":)"),
              std::string::npos)
        << shell.detail;
}

TEST_F(CommandExecutorTest, TheEnvironmentIsExact) {
    auto action = model::CommandAction{.argv = {"env"}, .environment = {{"MINE", "{{run_id}}"}}};
    action.inherit = {"NOT_SET"};
    auto event = Run(action);
    const auto has = [&](const std::string& text) {
        return event.detail.find(text) != std::string::npos;
    };
    EXPECT_TRUE(has(R"("output":"KSANA_ATTEMPT=2\nKSANA_EXEC_ID=)")) << event.detail;
    EXPECT_FALSE(has("exec-")) << "who has the exec_id may report: " << event.detail;
    EXPECT_TRUE(has("\\nKSANA_FENCE=5\\nKSANA_JOB_ID=job-1\\nKSANA_PAYLOAD_FILE=/tmp/ksana-"));
    EXPECT_TRUE(
        has("\\nKSANA_RUN_ID=0192f0c1-2345-7abc-8def-0123456789ab\\n"
            "MINE=0192f0c1-2345-7abc-8def-0123456789ab\\nPATH=/usr/bin:/bin\\n"
            "TRACEPARENT=00-"));
    EXPECT_TRUE(has("\\nTZ=UTC\\n"));
    EXPECT_FALSE(has("SECRET"));
    action.inherit = {"SECRET"};
    event = Run(action);
    EXPECT_TRUE(has("SECRET=s\\n"));
}

TEST_F(CommandExecutorTest, NothingOfThisProcessIsInherited) {
    const auto event =
        Run(Shell("for n in $(seq 3 99); do test -L /proc/$$/fd/$n && echo leak $n; done; "
                  "readlink /proc/$$/fd/0; umask; "
                  "test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo own session"));
    EXPECT_NE(event.detail.find(R"("output":"/dev/null\n0022\nown session\n")"), std::string::npos)
        << event.detail;
    // Without a shell, which blocks signals while it starts a program. Of the ignored signals only
    // the first 28: the C library has some of the others to itself.
    const auto signals =
        Run({.argv = {"sed", "-En", R"(s/^SigIgn.*(.{7})$/ignored \1/p; /^(SigBlk|NoNewPrivs)/p)",
                      "/proc/self/status"}});
    EXPECT_NE(signals.detail.find(
                  R"("output":"SigBlk:\t0000000000000000\nignored 0000000\nNoNewPrivs:\t1\n")"),
              std::string::npos)
        << signals.detail;
}

TEST_F(CommandExecutorTest, TheResultIsJsonOrAText) {
    EXPECT_EQ(Run(Shell("echo '{\"n\": 1}' > $KSANA_RESULT_FILE")).result, "{\"n\": 1}\n");
    EXPECT_EQ(Run(Shell("echo done > $KSANA_RESULT_FILE")).result, "\"done\"");
    EXPECT_EQ(Run(Shell("true")).result, "");
    const auto event = Run(Shell("head -c 2000000 /dev/zero > $KSANA_RESULT_FILE"));
    EXPECT_EQ(event.kind, EventKind::kPermanentFailure);
    EXPECT_EQ(event.error, "its result is longer than 1048576 bytes");
    const auto pipe = Run(Shell("rm $KSANA_RESULT_FILE; mkfifo $KSANA_RESULT_FILE"));
    EXPECT_EQ(pipe.result, "") << "and the executor does not hang";
}

TEST_F(CommandExecutorTest, NewsComeWhileItRuns) {
    const std::string exec_id = Start(Shell("echo ready; echo '::progress 40 half'; sleep 600"));
    AwaitLine("ready");
    executor_.Cancel(exec_id);
    EXPECT_EQ(Await(exec_id).kind, EventKind::kCancelled);
    const MutexLock lock(mutex_);
    EXPECT_EQ(news_.progress, 40);
    EXPECT_EQ(news_.note, "half");
}

// A cancel reaches processes in other sessions, and those that ignore SIGTERM.
TEST_F(CommandExecutorTest, ACancelStopsEveryProcess) {
    const std::string exec_id =
        Start(Shell("trap '' TERM; setsid sleep 600 & (setsid sh -c 'sleep 600 & echo there') & "
                    "sleep 600; sleep 600"),
              {}, seconds(60), milliseconds(100));
    AwaitLine("there");
    EXPECT_GE(ProcessesWith(exec_id).size(), 4U);
    executor_.Cancel(exec_id);
    const auto event = Await(exec_id);
    EXPECT_EQ(event.kind, EventKind::kCancelled);
    EXPECT_EQ(event.error, "stopped; it did not end by SIGTERM and was killed");
    EXPECT_TRUE(ProcessesWith(exec_id).empty());
}

TEST_F(CommandExecutorTest, WhatACommandLeavesBehindIsKilled) {
    const std::string exec_id =
        Start(Shell("(setsid sh -c 'setsid env -i sleep 613 &') & sleep 0.1; exit 0"));
    const auto event = Await(exec_id);
    EXPECT_EQ(event.kind, EventKind::kSuccess);
    EXPECT_NE(event.detail.find(R"("left_behind":"processes that were killed")"), std::string::npos)
        << event.detail;
    for (const pid_t pid : AllProcesses()) {
        std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
        std::string words;
        std::getline(file, words, '\1');
        EXPECT_FALSE(words.starts_with("sleep") && words.find("613") != std::string::npos) << pid;
    }
}

TEST_F(CommandExecutorTest, ATimeoutStopsIt) {
    const auto event = Await(Start({.argv = {"sleep", "600"}}, {}, milliseconds(50)));
    EXPECT_EQ(event.kind, EventKind::kTimeout);
    EXPECT_EQ(event.error, "timed out after 50ms");
}

TEST_F(CommandExecutorTest, LimitsHold) {
    auto action = Shell("ulimit -t; ulimit -v; ulimit -n; ulimit -f; ulimit -c");
    action.limits = {.cpu = milliseconds(1500),
                     .memory = 512 << 20,
                     .files = 20,
                     .processes = {},
                     .file_size = 10 << 20,
                     .core = 0};
    const auto event = Run(action);
    EXPECT_NE(event.detail.find(R"("output":"2\n524288\n20\n20480\n0\n")"), std::string::npos)
        << event.detail;
    action.limits = {.processes = 10};
    if (geteuid() == 0) {
        EXPECT_EQ(Run(action).error, "limits.processes does not hold for root: name a user");
    }
}

TEST_F(CommandExecutorTest, RootCanBecomeAnotherUser) {
    auto action = Shell(
        "id -un; id -gn; echo $HOME $USER; cat $KSANA_PAYLOAD_FILE; "
        "echo 7 > $KSANA_RESULT_FILE");
    action.user = "nobody";
    const auto event = Run(action, "{}");
    if (geteuid() != 0) {
        EXPECT_EQ(event.kind, EventKind::kPermanentFailure);
        EXPECT_NE(event.error.find("only root"), std::string::npos);
        return;
    }
    EXPECT_NE(event.detail.find(R"("output":"nobody\nnogroup\n/nonexistent nobody\n{}")"),
              std::string::npos)
        << event.detail;
    EXPECT_EQ(event.result, "7\n");
}

// However much comes, little is kept.
TEST_F(CommandExecutorTest, AFloodOfOutputIsBounded) {
    const auto event = Run(Shell("yes | head -c 256M; echo end"));
    EXPECT_EQ(event.kind, EventKind::kSuccess);
    EXPECT_NE(event.detail.find(R"("output_bytes":268435460,"left_out_bytes":268369924)"),
              std::string::npos);
    EXPECT_LT(event.detail.size(), 200'000U);
    EXPECT_TRUE(event.log.ends_with(R"("end")") || event.log.find("too fast") != std::string::npos);
}

// The guardian is killed: its commands fail and die, and the next one has another guardian.
TEST_F(CommandExecutorTest, ADeadGuardianIsReplaced) {
    const std::string exec_id = Start(Shell("setsid sleep 600 & echo ready; sleep 600"));
    AwaitLine("ready");
    for (const pid_t pid : DescendantsOf({getpid()})) {
        std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
        std::string name;
        file >> name;
        if (name == "ksana-guardian") kill(pid, SIGKILL);
    }
    const auto event = Await(exec_id);
    EXPECT_EQ(event.kind, EventKind::kRetryableFailure);
    EXPECT_EQ(event.error, "its guardian process ended, and the command with it");
    EXPECT_TRUE(ProcessesWith(exec_id).empty());
    EXPECT_EQ(Run({.argv = {"true"}}).kind, EventKind::kSuccess);
}

TEST_F(CommandExecutorTest, CloseKillsAndReportsAll) {
    const std::string exec_id = Start(Shell("trap '' TERM; echo ready; sleep 600; sleep 600"));
    AwaitLine("ready");
    executor_.Close();
    EXPECT_EQ(Await(exec_id).kind, EventKind::kRetryableFailure);
    EXPECT_TRUE(ProcessesWith(exec_id).empty());
    EXPECT_EQ(Run({.argv = {"true"}}).error, "commands are not running here");
    ASSERT_TRUE(executor_.Open());
    EXPECT_EQ(Run({.argv = {"true"}}).kind, EventKind::kSuccess);
}

}  // namespace
}  // namespace ksana::exec

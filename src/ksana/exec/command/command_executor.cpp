#include "ksana/exec/command/command_executor.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <set>
#include <stop_token>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/exec/call_values.hpp"
#include "ksana/exec/command/command_spec.hpp"
#include "ksana/exec/command/process_tree.hpp"

namespace ksana::exec {
namespace {

// What an event of epoll is about; larger numbers are commands.
constexpr std::uint64_t kWakeSource = 0;
constexpr std::uint64_t kGuardianSource = 1;
constexpr std::uint64_t kFirstId = 2;

constexpr std::size_t kReadSize = 256 << 10;
// Reads in a row from one command, before others get their turn.
constexpr int kReadsAtOnce = 8;
// The size of the pipe of a command that writes a lot.
constexpr int kWidePipe = 1 << 20;
// How long log lines are gathered before they are told.
constexpr Duration kTellEvery = std::chrono::milliseconds(200);
// SIGKILL comes this long before the stop grace is over, at most, so that the end is reported
// before the reaper takes the run.
constexpr Duration kReportTime = std::chrono::seconds(2);
// Messages to the guardian in each time of silence.
constexpr int kPings = 4;

Duration TimeLeft(const model::Run& run, TimePoint now) {
    return std::min(run.status.deadline.value_or(now + run.policy.timeout) - now,
                    run.policy.timeout);
}

Duration UntilKill(Duration grace) { return grace - std::min(grace / 5, kReportTime); }

model::Event Lost(const char* why) {
    model::Event event;
    event.kind = model::EventKind::kRetryableFailure;
    event.error = why;
    return event;
}

// Kills what a guardian that died has left: its first processes died with it. Looks again for those
// that were being forked, but not for ever: a process that waits for a device does not die.
void KillByAttemptId(const std::set<std::string>& attempt_ids) {
    constexpr int kMostLooks = 100;
    bool found = true;
    for (int look = 0; look < kMostLooks && found; ++look) {
        found = false;
        for (const pid_t pid : AllProcesses()) {
            const auto attempt_id = VariableOf(pid, "KSANA_EXEC_ID");
            if (!attempt_id || !attempt_ids.contains(*attempt_id)) continue;
            found = kill(pid, SIGKILL) == 0 || found;
        }
    }
}

}  // namespace

CommandExecutor::CommandExecutor(const Clock& clock, CommandOptions options)
    : clock_(clock),
      options_(std::move(options)),
      next_id_(kFirstId),
      thread_("commands", [this](const std::stop_token& stop) { Loop(stop); }) {}

CommandExecutor::~CommandExecutor() { Close(); }

Result<void> CommandExecutor::Open() {
    const MutexLock one_at_a_time(opening_);
    {
        const MutexLock lock(mutex_);
        if (open_) return {};
    }
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (epoll_ < 0 || wake_ < 0) return Error(Code::kExhausted, "no descriptors for commands");
    Watch(wake_, kWakeSource, EPOLLIN);
    buffer_.resize(kReadSize);
    KSANA_TRY_VOID(EnsureGuardian());
    KSANA_TRY_VOID(thread_.Start());
    const MutexLock lock(mutex_);
    open_ = true;
    return {};
}

void CommandExecutor::Close() {
    const MutexLock one_at_a_time(opening_);
    std::vector<Launch> launches;
    {
        const MutexLock lock(mutex_);
        open_ = false;
        launches = std::exchange(launches_, {});
        cancels_.clear();
    }
    thread_.Stop();
    guardian_.Stop();
    for (Launch& launch : launches) launch.done(Lost("the server stopped before it was started"));
    LoseAll("the server stopped while the command was running");
    if (!folder_.empty()) CommandFolder::Remove(std::exchange(folder_, {}));
    for (int* const file : {&epoll_, &wake_}) {
        if (*file >= 0) close(std::exchange(*file, -1));
    }
}

void CommandExecutor::Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) {
    {
        const MutexLock lock(mutex_);
        if (open_) {
            launches_.push_back({.attempt = std::move(attempt), .done = std::move(done)});
            Wake();
            return;
        }
    }
    done(Lost("commands are not running here"));
}

void CommandExecutor::Cancel(std::string_view exec_id) {
    const MutexLock lock(mutex_);
    if (!open_) return;
    cancels_.emplace_back(exec_id);
    Wake();
}

void CommandExecutor::Wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_, &one, sizeof(one));
}

void CommandExecutor::Loop(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { Wake(); });
    while (!stop.stop_requested()) {
        WaitAndHandle();
        CheckTimes(clock_.SteadyNow());
    }
}

void CommandExecutor::WaitAndHandle() {
    if (guardian_.running() && watches_room_ != guardian_.waits()) {
        watches_room_ = guardian_.waits();
        Watch(guardian_.socket(), kGuardianSource, watches_room_ ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
    std::array<epoll_event, 64> events{};
    const int count =
        epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), UntilNextMs());
    bool guardian = false;
    for (int n = 0; n < count; ++n) {
        const std::uint64_t source = events.at(static_cast<std::size_t>(n)).data.u64;
        if (source == kWakeSource) {
            TakeInbox();
        } else if (source == kGuardianSource) {
            guardian = true;
        } else if (const auto found = commands_.find(source); found != commands_.end()) {
            ReadPipe(found->second);
        }
    }
    // Last, because it ends commands whose output may have arrived, too.
    if (guardian) Receive();
}

void CommandExecutor::Watch(int file, std::uint64_t source, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = source;
    if (epoll_ctl(epoll_, EPOLL_CTL_MOD, file, &event) != 0) {
        epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event);
    }
}

void CommandExecutor::TakeInbox() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_, &count, sizeof(count));
    std::vector<Launch> launches;
    std::vector<std::string> cancels;
    {
        const MutexLock lock(mutex_);
        launches.swap(launches_);
        cancels.swap(cancels_);
    }
    for (Launch& launch : launches) Begin(std::move(launch));
    for (const std::string& exec_id : cancels) {
        const auto found = by_exec_id_.find(exec_id);
        if (found == by_exec_id_.end()) continue;
        Stop(found->second, commands_.at(found->second), CommandStop::kCancelled);
    }
}

void CommandExecutor::Begin(Launch launch) {
    const model::CommandAction* const action = CommandOf(*launch.attempt);
    const std::size_t limit =
        static_cast<std::size_t>(action != nullptr ? action->output_limit : 0);
    if (auto ready = EnsureGuardian(); !ready) {
        return launch.done(ImpossibleCommand(ready.error()));
    }
    const std::uint64_t id = next_id_++;
    Running& running = commands_.try_emplace(id, std::move(launch), folder_, limit).first->second;
    by_exec_id_.emplace(running.attempt().run.status.exec_id, id);
    if (auto prepared = Prepare(id, running); !prepared) {
        const Done done = std::move(running.launch.done);
        by_exec_id_.erase(running.attempt().run.status.exec_id);
        commands_.erase(id);
        done(ImpossibleCommand(prepared.error()));
    }
}

Result<void> CommandExecutor::Prepare(std::uint64_t id, Running& running) {
    const model::Run& run = running.attempt().run;
    KSANA_TRY(SpawnSpec spec, MakeSpawnSpec(running.attempt(),
                                            {.payload_file = running.files.payload(),
                                             .result_file = running.files.result()},
                                            options_.variables, options_.sampler));
    std::optional<std::uint32_t> uid;
    if (spec.user) uid = spec.user->uid;
    KSANA_TRY_VOID(running.files.Make(run.payload, uid));
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error(Code::kExhausted, "no descriptors for the output");
    }
    running.pipe = ends[0];
    fcntl(running.pipe, F_SETFL, O_NONBLOCK);  // of our end only
    Watch(running.pipe, id, EPOLLIN);
    const SteadyPoint now = clock_.SteadyNow();
    running.overdue_at = now + TimeLeft(run, clock_.Now());
    running.told_at = now;
    next_check_ = std::min(next_check_, running.overdue_at);
    if (commands_.size() == 1) next_ping_ = now + options_.silence / kPings;
    guardian_.Send({.kind = AskKind::kSpawn, .id = id, .spec = std::move(spec)}, ends[1]);
    return {};
}

Result<void> CommandExecutor::EnsureGuardian() {
    if (guardian_.running()) return {};
    if (folder_.empty()) {
        KSANA_TRY(folder_, CommandFolder::Make(options_.folder));
    }
    KSANA_TRY_VOID(guardian_.Start(folder_, options_.silence));
    watches_room_ = false;
    Watch(guardian_.socket(), kGuardianSource, EPOLLIN);
    return {};
}

void CommandExecutor::ReadPipe(Running& running) {
    for (int n = 0; n < kReadsAtOnce && running.pipe >= 0; ++n) {
        if (!ReadOnce(running)) break;
    }
    if (running.output.has_news()) {
        const SteadyPoint now = clock_.SteadyNow();
        if (now - running.told_at >= kTellEvery) TellNews(running, now);
        next_check_ = std::min<SteadyPoint>(next_check_, running.told_at + kTellEvery);
    }
}

// Returns whether there may be more to read now.
bool CommandExecutor::ReadOnce(Running& running) {
    const ssize_t got = read(running.pipe, buffer_.data(), buffer_.size());
    if (got > 0) {
        const auto size = static_cast<std::size_t>(got);
        running.output.Add(std::string_view(buffer_).substr(0, size));
        // Each read of a full pipe costs two changes of the process.
        constexpr std::size_t kMuch = 64 << 10;
        if (running.output.total() >= kMuch && !std::exchange(running.wide, true)) {
            fcntl(running.pipe, F_SETPIPE_SZ, kWidePipe);
        }
        return true;
    }
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    close(std::exchange(running.pipe, -1));
    return false;
}

void CommandExecutor::TellNews(Running& running, SteadyPoint now) {
    running.told_at = now;
    engine::AttemptNews news = running.output.TakeNews();
    if (running.attempt().tell) running.attempt().tell(std::move(news));
}

void CommandExecutor::Stop(std::uint64_t id, Running& running, CommandStop why) {
    if (running.stop != CommandStop::kNone) return;
    running.stop = why;
    const Duration wait = UntilKill(running.attempt().run.policy.stop_grace);
    running.kill_at = clock_.SteadyNow() + wait;
    next_check_ = std::min(next_check_, running.kill_at);
    guardian_.Send({.kind = AskKind::kSignal, .signal = SIGTERM, .id = id});
}

void CommandExecutor::CheckTimes(SteadyPoint now) {
    if (!commands_.empty() && guardian_.running() && now >= next_ping_) {
        guardian_.Send({.kind = AskKind::kPing});
        next_ping_ = now + options_.silence / kPings;
    }
    if (now < next_check_) return;
    next_check_ = SteadyPoint::max();
    for (auto& [id, running] : commands_) {
        if (running.stop == CommandStop::kNone && now >= running.overdue_at) {
            Stop(id, running, CommandStop::kTimeout);
        }
        if (!running.killed && now >= running.kill_at) {
            running.killed = true;
            guardian_.Send({.kind = AskKind::kSignal, .signal = SIGKILL, .id = id});
        }
        const bool news = running.output.has_news();
        if (news && now - running.told_at >= kTellEvery) TellNews(running, now);
        if (running.stop == CommandStop::kNone) {
            next_check_ = std::min(next_check_, running.overdue_at);
        } else if (!running.killed) {
            next_check_ = std::min(next_check_, running.kill_at);
        }
        if (running.output.has_news()) {
            next_check_ = std::min<SteadyPoint>(next_check_, running.told_at + kTellEvery);
        }
    }
}

int CommandExecutor::UntilNextMs() const {
    if (commands_.empty()) return -1;
    const SteadyPoint next = std::min(next_check_, next_ping_);
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(next - clock_.SteadyNow()).count();
    constexpr std::int64_t kLongest = 60'000;
    return static_cast<int>(std::clamp<std::int64_t>(wait, 0, kLongest));
}

void CommandExecutor::Receive() {
    guardian_.Flush();
    std::vector<Ending> endings;
    const bool alive = guardian_.Receive(endings);
    for (const Ending& ending : endings) Finish(ending);
    if (alive) return;
    Log(LogLevel::kError, "the guardian of commands ended; its commands are lost",
        {{"commands", commands_.size()}});
    guardian_.Stop();
    LoseAll("its guardian process ended, and the command with it");
    CommandFolder::Remove(std::exchange(folder_, {}));  // unless it has done that itself
}

void CommandExecutor::Finish(const Ending& ending) {
    const auto found = commands_.find(ending.id);
    if (found == commands_.end()) return;
    Running& running = found->second;
    // All writers are gone, so what the pipe holds is the rest; a process that could not be killed
    // may still write.
    constexpr int kMostReads = 64;
    for (int n = 0; n < kMostReads && running.pipe >= 0; ++n) {
        if (!ReadOnce(running)) break;
    }
    if (running.pipe >= 0) close(running.pipe);
    running.output.End();
    const bool well = ending.stage == SpawnStage::kNone && ending.status == 0;
    model::Event event = CommandOutcome(
        ending, {.action = *CommandOf(running.attempt()),
                 .output = running.output,
                 .stop = running.stop,
                 .killed = running.killed,
                 .timeout = running.attempt().run.policy.timeout,
                 .result = well ? running.files.TakeResult() : Result<std::string>(std::string())});
    event.log = running.output.TakeNews().log;
    const Done done = std::move(running.launch.done);
    by_exec_id_.erase(running.attempt().run.status.exec_id);
    commands_.erase(found);
    done(std::move(event));
}

void CommandExecutor::LoseAll(const char* why) {
    if (commands_.empty()) return;
    std::set<std::string> attempt_ids;
    for (const auto& [id, running] : commands_) {
        attempt_ids.insert(AttemptIdOf(running.attempt().run));
    }
    KillByAttemptId(attempt_ids);
    for (auto& [id, running] : std::exchange(commands_, {})) {
        if (running.pipe >= 0) close(running.pipe);
        model::Event event = Lost(why);
        event.log = running.output.TakeNews().log;
        running.launch.done(std::move(event));
    }
    by_exec_id_.clear();
}

}  // namespace ksana::exec

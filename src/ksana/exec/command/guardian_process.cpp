#include "ksana/exec/command/guardian_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "ksana/exec/command/packet_socket.hpp"
#include "ksana/exec/command/process_tree.hpp"

namespace ksana::exec {
namespace {

// How often the remains of a command are looked at, and how often in all: ten seconds. A process
// that the kernel does not end by then waits for a device.
constexpr int kLookAgainMs = 5;
constexpr int kMaxLooks = 2'000;
// The silence of the executor is counted in pieces, so that a machine that slept counts as one.
constexpr int kSilencePieces = 4;

void MakeSignalMask(sigset_t& mask) {
    sigfillset(&mask);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
}

std::int64_t MicrosOf(const timeval& time) {
    constexpr std::int64_t kMicros = 1'000'000;
    return static_cast<std::int64_t>(time.tv_sec) * kMicros + time.tv_usec;
}

}  // namespace

GuardianProcess::GuardianProcess(int socket, std::string folder, int silence_ms)
    : socket_(socket), folder_(std::move(folder)), silence_ms_(silence_ms) {
    prctl(PR_SET_NAME, kGuardianName, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigset_t mask;
    MakeSignalMask(mask);
    signals_ = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    null_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    void* const shared = mmap(nullptr, sizeof(ChildReport), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) report_ = static_cast<ChildReport*>(shared);
    packet_.resize(kMaxPacket);
}

GuardianProcess::~GuardianProcess() {
    for (const int file : {socket_, signals_, null_}) {
        if (file >= 0) close(file);
    }
    if (report_ != nullptr) munmap(report_, sizeof(ChildReport));
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void GuardianProcess::Run() {
    const bool ready = signals_ >= 0 && null_ >= 0 && report_ != nullptr;
    while (ready && Serve()) {
    }
    EndAll();
}

// Waits for one event and handles it. Returns false if the executor is gone.
bool GuardianProcess::Serve() {
    const short wanted = unsent_.empty() ? POLLIN : POLLIN | POLLOUT;
    std::array<pollfd, 2> files = {pollfd{.fd = socket_, .events = wanted, .revents = 0},
                                   pollfd{.fd = signals_, .events = POLLIN, .revents = 0}};
    const int wait = has_ending_         ? kLookAgainMs
                     : commands_.empty() ? -1
                                         : silence_ms_ / kSilencePieces;
    const int ready = poll(files.data(), files.size(), wait);
    if (ready == 0 && !has_ending_ && ++quiet_ >= kSilencePieces) return false;
    if (files[1].revents != 0) Reap();
    if (has_ending_) FinishEnded();
    SendEndings();
    return files[0].revents == 0 || Receive();
}

// Handles the messages that have arrived. Returns false at the end of the socket.
bool GuardianProcess::Receive() {
    quiet_ = 0;
    for (;;) {
        auto received = ReceivePacket(socket_, packet_);
        if (received.size < 0) return received.error == EAGAIN || received.error == EINTR;
        if (received.size == 0) return false;
        const auto ask =
            DecodeAsk(std::string_view(packet_).substr(0, static_cast<std::size_t>(received.size)));
        if (ask && ask->kind == AskKind::kSpawn) Spawn(*ask, received.descriptor);
        if (ask && ask->kind == AskKind::kSignal) Signal(ask->id, ask->signal);
        if (received.descriptor >= 0) close(received.descriptor);
    }
}

void GuardianProcess::Spawn(const Ask& ask, int output) {
    Command command;
    command.attempt_id = ask.spec.attempt_id;
    command.ending.id = ask.id;
    command.cgroup = cgroups_.Take();
    const int cgroup = command.cgroup ? command.cgroup->folder() : -1;
    command.pid = SpawnChild(
        ask.spec, {.input = null_, .output = output, .cgroup = cgroup, .report = report_});
    if (command.pid < 0) {
        command.ending.stage = report_->stage;
        command.ending.error = report_->error;
        cgroups_.Return(std::move(command.cgroup));
        Send(command.ending);
        return;
    }
    by_pid_.emplace(command.pid, ask.id);
    commands_.emplace(ask.id, std::move(command));
}

void GuardianProcess::Signal(std::uint64_t id, int signal) {
    const auto found = commands_.find(id);
    if (found == commands_.end()) return;
    // Its end may have been noticed by the kernel only.
    Reap();
    if (found->second.exited) return FinishEnded();
    found->second.ending.signalled = 1;
    if (signal == SIGKILL) {
        found->second.killed = true;
        has_ending_ = true;
        KillLeft(*found);
        return;
    }
    LookForOrphans();
    for (const pid_t pid : ProcessesOf(*found)) kill(pid, signal);
}

// Takes the status of every child that has ended. The first process of a command stays a zombie
// until its group has been killed, so that no other group can have its number.
void GuardianProcess::Reap() {
    std::array<signalfd_siginfo, 8> infos;  // NOLINT(*-member-init): filled by read
    while (read(signals_, infos.data(), sizeof(infos)) == sizeof(infos)) {
    }
    for (;;) {
        siginfo_t info{};
        const int waited = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
        const pid_t pid = info.si_pid;
        if (waited != 0 || pid == 0) return;
        if (by_pid_.contains(pid)) kill(-pid, SIGKILL);
        int status = 0;
        rusage usage{};
        if (wait4(pid, &status, WNOHANG, &usage) != pid) return;
        orphans_.erase(pid);
        NoteExit(pid, status, usage);
    }
}

void GuardianProcess::NoteExit(pid_t pid, int status, const rusage& usage) {
    constexpr std::int64_t kKilo = 1024;
    const auto found = by_pid_.find(pid);
    if (found == by_pid_.end()) {
        has_ending_ = has_ending_ || !commands_.empty();
        return;
    }
    Command& command = commands_.at(found->second);
    by_pid_.erase(found);
    command.exited = true;
    command.ending.status = status;
    command.ending.cpu_micros = MicrosOf(usage.ru_utime) + MicrosOf(usage.ru_stime);
    command.ending.memory_bytes = usage.ru_maxrss * kKilo;
    has_ending_ = true;
}

void GuardianProcess::LookForOrphans() {
    for (const pid_t child : OwnChildren()) {
        if (by_pid_.contains(child) || orphans_.contains(child)) continue;
        const std::uint64_t newest = commands_.empty() ? 0 : commands_.rbegin()->first;
        orphans_.emplace(child, Orphan{.command = CommandOf(child), .newest = newest});
    }
}

// Returns the command that an orphan comes from; 0: unknown.
std::uint64_t GuardianProcess::CommandOf(pid_t orphan) const {
    const auto session = SessionOf(orphan);
    const auto attempt_id = VariableOf(orphan, "KSANA_EXEC_ID");
    for (const auto& [id, command] : commands_) {
        if (session == command.pid || attempt_id == command.attempt_id) return id;
    }
    return 0;
}

// Returns what is known of a command's processes.
std::vector<pid_t> GuardianProcess::ProcessesOf(const Commands::value_type& entry) const {
    const auto& [id, command] = entry;
    std::vector<pid_t> all;
    if (!command.exited) all.push_back(command.pid);
    for (const auto& [pid, orphan] : orphans_) {
        if (orphan.command == id) all.push_back(pid);
    }
    const std::vector<pid_t> below = DescendantsOf(all);
    all.insert(all.end(), below.begin(), below.end());
    if (command.cgroup) {
        const std::vector<pid_t> inside = command.cgroup->Processes();
        all.insert(all.end(), inside.begin(), inside.end());
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

bool GuardianProcess::IsAnythingLeft(const Commands::value_type& entry) const {
    const auto& [id, command] = entry;
    if (command.cgroup && command.cgroup->IsPopulated()) return true;
    return std::ranges::any_of(orphans_,
                               [id = id](const auto& one) { return one.second.command == id; });
}

void GuardianProcess::KillLeft(const Commands::value_type& entry) const {
    const auto& command = entry.second;
    if (command.cgroup) command.cgroup->Kill();
    if (!command.exited) kill(-command.pid, SIGKILL);
    for (const pid_t pid : ProcessesOf(entry)) kill(pid, SIGKILL);
}

// Kills orphans of which nothing is known but that every command that may have made them has ended.
void GuardianProcess::KillLostOrphans() const {
    const std::uint64_t oldest = commands_.empty() ? ~std::uint64_t{0} : commands_.begin()->first;
    std::vector<pid_t> lost;
    for (const auto& [pid, orphan] : orphans_) {
        const bool ours = orphan.command != 0 && commands_.contains(orphan.command);
        if (!ours && orphan.newest < oldest) lost.push_back(pid);
    }
    if (lost.empty()) return;
    for (const pid_t pid : DescendantsOf(lost)) kill(pid, SIGKILL);
    for (const pid_t pid : lost) kill(pid, SIGKILL);
}

// Sends the endings of commands of which nothing is left, and kills what is left of the others.
void GuardianProcess::FinishEnded() {
    LookForOrphans();
    has_ending_ = false;
    for (auto at = commands_.begin(); at != commands_.end();) {
        Command& command = at->second;
        const bool left = (command.exited || command.killed) && IsAnythingLeft(*at);
        if (left || (command.killed && !command.exited)) {
            has_ending_ = true;
            if (command.exited) command.ending.left_behind = 1;
            if (++command.tries <= kMaxLooks) {
                KillLeft(*at++);
                continue;
            }
            command.ending.not_gone = 1;
        } else if (!command.exited) {
            ++at;
            continue;
        }
        Send(command.ending);
        if (!left) cgroups_.Return(std::move(command.cgroup));
        by_pid_.erase(command.pid);
        at = commands_.erase(at);
    }
    KillLostOrphans();
    has_ending_ = has_ending_ || (commands_.empty() && !orphans_.empty());
}

void GuardianProcess::Send(const Ending& ending) {
    unsent_.push_back(ending);
    SendEndings();
}

// Sends as many endings as there is room for. If the executor is gone, nobody wants to know.
void GuardianProcess::SendEndings() {
    while (!unsent_.empty()) {
        if (SendPacket(socket_, Encode(unsent_.front()), -1) == EAGAIN) return;
        unsent_.pop_front();
    }
}

void GuardianProcess::EndAll() {
    shutdown(socket_, SHUT_RDWR);
    for (auto& entry : commands_) {
        entry.second.killed = true;
        KillLeft(entry);
    }
    for (int look = 0; look < kMaxLooks; ++look) {
        Reap();
        FinishEnded();
        if (commands_.empty() && OwnChildren().empty()) return;
        pollfd signals{.fd = signals_, .events = POLLIN, .revents = 0};
        poll(&signals, 1, kLookAgainMs);
    }
}

}  // namespace ksana::exec

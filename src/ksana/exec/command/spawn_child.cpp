#include "ksana/exec/command/spawn_child.hpp"

#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <csignal>

namespace ksana::exec {
namespace {

constexpr int kNotExecuted = 127;
constexpr int kFirstFree = 3;  // after the standard descriptors
constexpr mode_t kMask = 022;
constexpr std::array<int, kLimitCount> kResources = {RLIMIT_CPU,   RLIMIT_AS,    RLIMIT_NOFILE,
                                                     RLIMIT_NPROC, RLIMIT_FSIZE, RLIMIT_CORE};

// The pointers that execve takes. Made before the child exists, which must not allocate.
class TextPointers {
  public:
    explicit TextPointers(const std::vector<std::string>& texts) {
        pointers_.reserve(texts.size() + 1);
        // execve does not change the texts, but C has no way to say so.
        for (const std::string& text : texts) pointers_.push_back(const_cast<char*>(text.c_str()));
        pointers_.push_back(nullptr);
    }
    char* const* get() const { return pointers_.data(); }

  private:
    std::vector<char*> pointers_;
};

// What the child does before the program takes over. Only system calls: the child shares the memory
// of the guardian, or has a copy made in the middle of its work.
class Child {
  public:
    Child(const SpawnSpec& spec, const SpawnPlaces& places, pid_t guardian)
        : spec_(spec), places_(places), guardian_(guardian) {}

    [[noreturn]] void Run(char* const* arguments, char* const* variables) const {
        Require(setsid() >= 0, SpawnStage::kSession);
        umask(kMask);
        Require(dup2(places_.input, STDIN_FILENO) >= 0 &&
                    dup2(places_.output, STDOUT_FILENO) >= 0 &&
                    dup2(places_.output, STDERR_FILENO) >= 0,
                SpawnStage::kOutput);
        SetLimits();
        SwitchUser();
        // As the user, who may not be allowed to go there.
        const bool there =
            spec_.working_directory.empty() || chdir(spec_.working_directory.c_str()) == 0;
        Require(there, SpawnStage::kFolder);
        Require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, SpawnStage::kUser);
        // After the change of the user, which clears it.
        Require(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, SpawnStage::kSession);
        if (getppid() != guardian_) _exit(kNotExecuted);  // it ended just before
        Require(syscall(SYS_close_range, kFirstFree, ~0U, 0) == 0, SpawnStage::kOutput);
        // The server ignores it, and what is ignored stays so in the program.
        (void)std::signal(SIGXFSZ, SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        Execute(arguments, variables);
    }

  private:
    void Require(bool done, SpawnStage stage) const {
        if (!done) Fail(stage, errno);
    }

    [[noreturn]] void Fail(SpawnStage stage, int error) const {
        *places_.report = {.stage = stage, .error = error};
        _exit(kNotExecuted);
    }

    void SetLimits() const {
        for (std::size_t n = 0; n < kLimitCount; ++n) {
            if (!spec_.limits[n]) continue;
            const auto value = static_cast<rlim_t>(*spec_.limits[n]);
            const rlimit both{.rlim_cur = value, .rlim_max = value};
            Require(syscall(SYS_prlimit64, 0, kResources[n], &both, nullptr) == 0,
                    SpawnStage::kLimits);
        }
    }

    void SwitchUser() const {
        if (!spec_.user) return;
        const auto& user = *spec_.user;
        Require(syscall(SYS_setgroups, user.groups.size(), user.groups.data()) == 0 &&
                    syscall(SYS_setresgid, user.gid, user.gid, user.gid) == 0 &&
                    syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0,
                SpawnStage::kUser);
    }

    // Tries one path after the other, as a shell does. A program that is there but may not be
    // executed is the better explanation than one that is not there.
    [[noreturn]] void Execute(char* const* arguments, char* const* variables) const {
        int worst = ENOENT;
        for (const std::string& program : spec_.programs) {
            execve(program.c_str(), arguments, variables);
            if (errno == ENOENT || errno == ENOTDIR) continue;
            worst = errno;
            if (errno != EACCES) break;
        }
        Fail(SpawnStage::kProgram, worst);
    }

    const SpawnSpec& spec_;
    const SpawnPlaces& places_;
    const pid_t guardian_;
};

// What a new child runs, and its arguments.
struct ChildEntry {
    const Child& child;
    char* const* arguments;
    char* const* variables;
};

[[noreturn]] void RunChild(const ChildEntry* entry) {
    entry->child.Run(entry->arguments, entry->variables);
}

// The sanitizers keep notes about the stack, which a child that shares the memory would spoil.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

constexpr std::size_t kStackSize = 128 << 10;

// Starts a child that shares the memory of the guardian, which waits until it has executed its
// program or ended, and runs RunChild on a stack of its own: copying the memory would take longer
// than all the rest. The C library can do the same, but not with a cgroup.
pid_t Clone(clone_args& how, const ChildEntry& entry) {
    alignas(16) static std::array<char, kStackSize> stack;
    how.flags |= CLONE_VM;
    how.stack = std::bit_cast<std::uint64_t>(stack.data());
    how.stack_size = stack.size();
    long pid = SYS_clone3;
    register void (*run)(const ChildEntry*) asm("r12") = &RunChild;
    register const ChildEntry* argument asm("r13") = &entry;
    asm volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"  // the end of the chain of frames
        "mov %%r13, %%rdi\n\t"
        "call *%%r12\n\t"
        "1:"
        : "+a"(pid)
        : "D"(&how), "S"(sizeof(how)), "r"(run), "r"(argument)
        : "rcx", "r11", "memory", "cc");
    if (pid >= 0) return static_cast<pid_t>(pid);
    errno = static_cast<int>(-pid);
    return -1;
}

#else

pid_t Clone(clone_args& how, const ChildEntry& entry) {
    const auto pid = static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof(how)));
    if (pid == 0) RunChild(&entry);
    return pid;
}

#endif

// Starts a child, and waits until it has executed its program or ended.
pid_t StartChild(const ChildEntry& entry, int cgroup) {
    clone_args how{};
    how.flags = CLONE_VFORK;
    how.exit_signal = SIGCHLD;
    if (cgroup >= 0) {
        how.flags |= CLONE_INTO_CGROUP;
        how.cgroup = static_cast<std::uint64_t>(cgroup);
    }
    const pid_t pid = Clone(how, entry);
    if (pid >= 0 || errno != ENOSYS) return pid;
    // Filters of system calls of older containers do not know clone3.
    const auto copy = static_cast<pid_t>(syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0));
    if (copy == 0) RunChild(&entry);
    return copy;
}

}  // namespace

pid_t SpawnChild(const SpawnSpec& spec, const SpawnPlaces& places) {
    const TextPointers arguments(spec.arguments);
    const TextPointers variables(spec.variables);
    const Child child(spec, places, getpid());
    *places.report = {};
    const pid_t pid =
        StartChild({.child = child, .arguments = arguments.get(), .variables = variables.get()},
                   places.cgroup);
    if (pid < 0) {
        *places.report = {.stage = SpawnStage::kProcess, .error = errno};
        return -1;
    }
    if (places.report->stage == SpawnStage::kNone) return pid;
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return -1;
}

}  // namespace ksana::exec

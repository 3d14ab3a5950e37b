#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "ksana/exec/command/command_cgroups.hpp"
#include "ksana/exec/command/guardian_wire.hpp"
#include "ksana/exec/command/spawn_child.hpp"

namespace ksana::exec {

// The work of a guardian: a process of one thread that starts the commands of an executor, knows
// every process that comes of them, and lets none survive. It is a copy of the executor's program
// that never reaches main (guardian_entry.cpp), so any program that links the executor has it.
//
// It kills all when its socket ends, which the kernel does when the executor's process dies in
// whatever way, and when the executor is silent for too long while commands run: a process that is
// stopped has lost its leases. Processes that leave their session, their parents and their
// environment are found too: the guardian is a subreaper, so each of them stays its descendant, and
// a cgroup says whose they are. Without cgroups it goes by session and KSANA_EXEC_ID; a process
// without either ends with the last command that may have made it.
class GuardianProcess {
  public:
    // Takes the socket. `folder` has the files of commands; it is removed at the end.
    GuardianProcess(int socket, std::string folder, int silence_ms);
    ~GuardianProcess();
    GuardianProcess(const GuardianProcess&) = delete;
    GuardianProcess& operator=(const GuardianProcess&) = delete;

    // Returns when the executor is gone and no process is left.
    void Run();

  private:
    // A command, from its spawn until its ending is sent.
    struct Command {
        pid_t pid = 0;
        std::string attempt_id;
        std::unique_ptr<CommandCgroup> cgroup;  // null: none
        bool exited = false;                    // its first process has been reaped
        bool killed = false;                    // everything of it must go
        int tries = 0;                          // looks at what is left of it
        Ending ending;
    };
    // A process whose parent has ended, now a child of the guardian.
    struct Orphan {
        std::uint64_t command = 0;  // 0: not known
        std::uint64_t newest = 0;   // the last command that was started before it was seen
    };
    using Commands = std::map<std::uint64_t, Command>;

    bool Serve();
    bool Receive();
    void Spawn(const Ask& ask, int output);
    void Signal(std::uint64_t id, int signal);
    void Reap();
    void NoteExit(pid_t pid, int status, const rusage& usage);
    void LookForOrphans();
    std::uint64_t CommandOf(pid_t orphan) const;
    std::vector<pid_t> ProcessesOf(const Commands::value_type& entry) const;
    bool IsAnythingLeft(const Commands::value_type& entry) const;
    void KillLeft(const Commands::value_type& entry) const;
    void KillLostOrphans() const;
    void FinishEnded();
    void Send(const Ending& ending);
    void SendEndings();
    void EndAll();

    const int socket_;
    const std::string folder_;
    const int silence_ms_;
    int signals_ = -1;
    int null_ = -1;
    ChildReport* report_ = nullptr;
    CommandCgroups cgroups_;
    Commands commands_;
    std::map<pid_t, std::uint64_t> by_pid_;  // of commands that have not exited
    std::map<pid_t, Orphan> orphans_;
    std::deque<Ending> unsent_;  // at most one of each command
    std::string packet_;
    int quiet_ = 0;            // waits in a row in which the executor said nothing
    bool has_ending_ = false;  // something of an ended command may be left
};

}  // namespace ksana::exec

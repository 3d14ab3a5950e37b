#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace ksana::exec {

// A cgroup that holds the processes of one command at a time. Removed when destroyed, if empty.
class CommandCgroup {
  public:
    explicit CommandCgroup(std::string path);
    ~CommandCgroup();
    CommandCgroup(const CommandCgroup&) = delete;
    CommandCgroup& operator=(const CommandCgroup&) = delete;

    bool usable() const { return folder_ >= 0 && events_ >= 0 && kill_ >= 0; }
    int folder() const { return folder_; }  // for clone3
    // Returns whether a process is in it. Zombies do not count.
    bool IsPopulated() const;
    std::vector<pid_t> Processes() const;
    // Kills all its processes, those that are being forked too.
    void Kill();
    bool killed() const { return killed_; }

  private:
    const std::string path_;
    int folder_ = -1;
    int events_ = -1;
    int kill_ = -1;
    bool killed_ = false;
};

// The cgroups of a guardian's commands, in a folder of their own below the cgroup of the process.
// Kept and used again, because making one takes longer than starting a process. Without cgroup v2,
// or without the right to make one, there are none: the guardian then finds processes by /proc.
// Belongs to one thread.
class CommandCgroups {
  public:
    // Makes the folder, and removes those that killed guardians left behind.
    CommandCgroups();
    ~CommandCgroups();
    CommandCgroups(const CommandCgroups&) = delete;
    CommandCgroups& operator=(const CommandCgroups&) = delete;

    bool usable() const { return !folder_.empty(); }
    // Returns null if none can be made.
    std::unique_ptr<CommandCgroup> Take();
    // Takes back an empty one, unless it was killed.
    void Return(std::unique_ptr<CommandCgroup> cgroup);

  private:
    std::string folder_;  // empty: cgroups cannot be used
    std::uint64_t made_ = 0;
    std::vector<std::unique_ptr<CommandCgroup>> free_;
};

// Returns the folder of this process's cgroup v2 if new ones can be made there, else nothing. For
// `ksana doctor` too.
std::string UsableCgroupFolder();

}  // namespace ksana::exec

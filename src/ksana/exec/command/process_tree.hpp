#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What /proc says about processes. Processes come and go while it is read: an answer may be older
// than the call, and callers that kill ask again until nothing is left.

namespace ksana::exec {

// Returns the children of this process, whose only thread calls it; those that others left behind
// are among them if it is a subreaper.
std::vector<pid_t> OwnChildren();

// Returns all descendants of the processes, without themselves. At most kMaxProcesses.
inline constexpr std::size_t kMaxProcesses = 100'000;
std::vector<pid_t> DescendantsOf(const std::vector<pid_t>& roots);

// Returns the session of a process.
std::optional<pid_t> SessionOf(pid_t pid);

// Returns the value that a variable had when the process's program was started. Nothing if it was
// not set or may not be read.
std::optional<std::string> VariableOf(pid_t pid, std::string_view name);

// Returns every process of the machine, as far as this process sees it.
std::vector<pid_t> AllProcesses();

}  // namespace ksana::exec

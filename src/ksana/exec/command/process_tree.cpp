#include "ksana/exec/command/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <memory>

namespace ksana::exec {
namespace {

// The longest file of /proc that is read; an environment may be as long as this.
constexpr std::size_t kMaxFile = 4 << 20;

std::string ReadFile(const std::string& path) {
    std::string text;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return text;
    constexpr std::size_t kPiece = 4096;
    for (ssize_t got = 1; got > 0 && text.size() < kMaxFile;) {
        const std::size_t size = text.size();
        text.resize(size + kPiece);
        got = read(file, text.data() + size, kPiece);
        text.resize(size + (got > 0 ? static_cast<std::size_t>(got) : 0));
    }
    close(file);
    return text;
}

std::optional<pid_t> PidOf(std::string_view text) {
    pid_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// Splits a text at blanks.
std::vector<pid_t> PidsOf(std::string_view text) {
    std::vector<pid_t> numbers;
    while (!text.empty()) {
        const std::size_t blank = text.find_first_of(" \n");
        if (const auto number = PidOf(text.substr(0, blank))) numbers.push_back(*number);
        if (blank == std::string_view::npos) break;
        text.remove_prefix(blank + 1);
    }
    return numbers;
}

// Returns the names in a folder that are numbers.
std::vector<pid_t> PidsIn(const std::string& folder) {
    struct Closer {
        void operator()(DIR* open) const { closedir(open); }
    };
    std::vector<pid_t> numbers;
    const std::unique_ptr<DIR, Closer> opened(opendir(folder.c_str()));
    if (!opened) return numbers;
    while (const dirent* entry = readdir(opened.get())) {
        if (const auto number = PidOf(&entry->d_name[0])) numbers.push_back(*number);
    }
    return numbers;
}

// The children of a process are listed by the thread that started them.
void AddChildren(pid_t pid, std::vector<pid_t>& all) {
    for (const pid_t thread : PidsIn(fmt::format("/proc/{}/task", pid))) {
        for (const pid_t child :
             PidsOf(ReadFile(fmt::format("/proc/{}/task/{}/children", pid, thread)))) {
            if (all.size() < kMaxProcesses) all.push_back(child);
        }
    }
}

}  // namespace

std::vector<pid_t> OwnChildren() { return PidsOf(ReadFile("/proc/thread-self/children")); }

std::vector<pid_t> DescendantsOf(const std::vector<pid_t>& roots) {
    std::vector<pid_t> all;
    for (const pid_t root : roots) AddChildren(root, all);
    for (std::size_t n = 0; n < all.size(); ++n) AddChildren(all[n], all);
    return all;
}

std::optional<pid_t> SessionOf(pid_t pid) {
    const pid_t session = getsid(pid);
    if (session < 0) return std::nullopt;
    return session;
}

std::optional<std::string> VariableOf(pid_t pid, std::string_view name) {
    const std::string all = ReadFile(fmt::format("/proc/{}/environ", pid));
    std::string_view rest = all;
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find('\0'));
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
            return std::string(entry.substr(name.size() + 1));
        }
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    }
    return std::nullopt;
}

std::vector<pid_t> AllProcesses() { return PidsIn("/proc"); }

}  // namespace ksana::exec

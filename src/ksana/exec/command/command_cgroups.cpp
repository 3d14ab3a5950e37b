#include "ksana/exec/command/command_cgroups.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ksana::exec {
namespace {

constexpr std::string_view kCgroupPrefix = "ksana-";
constexpr mode_t kFolderMode = 0755;
constexpr std::size_t kMostFree = 64;

std::string MountOf() {
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string device;
        std::string place;
        std::string kind;
        words >> device >> place >> kind;
        if (kind == "cgroup2") return place;
    }
    return {};
}

// Returns the path of this process's cgroup below the mount, "/system.slice/ksana.service".
std::string OwnPath() {
    std::ifstream all("/proc/self/cgroup");
    for (std::string line; std::getline(all, line);) {
        if (line.starts_with("0::")) return line.substr(3);
    }
    return {};
}

void RemoveFolder(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.is_directory(ignored)) rmdir(entry.path().c_str());
    }
    rmdir(folder.c_str());
}

// Removes the folders of guardians that do not live any more.
void RemoveStale(const std::string& own) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(own, ignored)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with(kCgroupPrefix)) continue;
        pid_t pid = 0;
        const auto [end, error] =
            std::from_chars(name.data() + kCgroupPrefix.size(), name.data() + name.size(), pid);
        if (error != std::errc() || end != name.data() + name.size() || pid <= 0) continue;
        if (kill(pid, 0) != 0 && errno == ESRCH) RemoveFolder(entry.path());
    }
}

}  // namespace

std::string UsableCgroupFolder() {
    const std::string mount = MountOf();
    const std::string path = OwnPath();
    if (mount.empty() || path.empty()) return {};
    std::string own = mount + (path == "/" ? "" : path);
    const std::string probe = fmt::format("{}/{}probe-{}", own, kCgroupPrefix, getpid());
    if (mkdir(probe.c_str(), kFolderMode) != 0) return {};
    const bool kills = access((probe + "/cgroup.kill").c_str(), W_OK) == 0;
    rmdir(probe.c_str());
    return kills ? own : std::string();
}

CommandCgroup::CommandCgroup(std::string path) : path_(std::move(path)) {
    if (mkdir(path_.c_str(), kFolderMode) != 0) return;
    folder_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    events_ = open((path_ + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC);
    kill_ = open((path_ + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);
}

CommandCgroup::~CommandCgroup() {
    for (const int file : {folder_, events_, kill_}) {
        if (file >= 0) close(file);
    }
    rmdir(path_.c_str());
}

bool CommandCgroup::IsPopulated() const {
    std::array<char, 256> text{};
    const ssize_t got = pread(events_, text.data(), text.size(), 0);
    if (got <= 0) return false;
    return std::string_view(text.data(), static_cast<std::size_t>(got)).find("populated 1") !=
           std::string_view::npos;
}

std::vector<pid_t> CommandCgroup::Processes() const {
    std::vector<pid_t> pids;
    std::ifstream all(path_ + "/cgroup.procs");
    for (pid_t pid = 0; all >> pid;) {
        if (pid > 0) pids.push_back(pid);
    }
    return pids;
}

void CommandCgroup::Kill() {
    killed_ = true;
    [[maybe_unused]] const auto done = write(kill_, "1", 1);
}

CommandCgroups::CommandCgroups() {
    const std::string own = UsableCgroupFolder();
    if (own.empty()) return;
    RemoveStale(own);
    const std::string folder = fmt::format("{}/{}{}", own, kCgroupPrefix, getpid());
    if (mkdir(folder.c_str(), kFolderMode) == 0) folder_ = folder;
}

CommandCgroups::~CommandCgroups() {
    free_.clear();
    if (usable()) RemoveFolder(folder_);
}

std::unique_ptr<CommandCgroup> CommandCgroups::Take() {
    if (!usable()) return nullptr;
    if (!free_.empty()) {
        auto cgroup = std::move(free_.back());
        free_.pop_back();
        return cgroup;
    }
    auto cgroup = std::make_unique<CommandCgroup>(fmt::format("{}/{}", folder_, ++made_));
    return cgroup->usable() ? std::move(cgroup) : nullptr;
}

void CommandCgroups::Return(std::unique_ptr<CommandCgroup> cgroup) {
    // Newer kernels kill what is cloned into a cgroup that was killed once, even when it is empty.
    if (cgroup && !cgroup->killed() && free_.size() < kMostFree) {
        free_.push_back(std::move(cgroup));
    }
}

}  // namespace ksana::exec

#include "support/private_server.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "ksana/base/time/clock.hpp"

namespace ksana::testing {
namespace {

std::string PortOf(const std::string& url) {
    const std::size_t at = url.rfind(':');
    return url.empty() ? "" : url.substr(at + 1, url.find('/', at) - at - 1);
}

// Whether every thread of the process is stopped. /proc/PID/task/TID/stat: "TID (name) STATE …".
bool IsStopped(pid_t pid) {
    std::error_code fault;
    for (const auto& thread :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), fault)) {
        std::string line;
        std::getline(std::ifstream(thread.path() / "stat"), line);
        const std::size_t name_end = line.rfind(')');
        if (name_end == std::string::npos) continue;  // the thread has ended
        if (line.substr(name_end, 3) != ") T") return false;
    }
    return true;
}

// SIGSTOP takes effect after kill() has returned: until then a thread on another core may answer.
void StopAndWait(pid_t pid) {
    ::kill(pid, SIGSTOP);
    SystemClock clock;
    const SteadyPoint until = clock.SteadyNow() + std::chrono::seconds(20);
    Wakeup nothing;
    while (!IsStopped(pid)) {
        ASSERT_LT(clock.SteadyNow(), until) << "process " << pid << " does not stop";
        clock.Wait(nothing, clock.SteadyNow() + std::chrono::milliseconds(1), {});
    }
}

}  // namespace

PrivateServer::PrivateServer(std::string script, std::string port_variable)
    : script_(std::move(script)), port_variable_(std::move(port_variable)) {
    // The server runs as another user.
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    url_ = Run(folder_.path());
    EXPECT_FALSE(url_.empty()) << script_ << " started no server";
}

PrivateServer::~PrivateServer() {
    Thaw();
    Run("stop " + folder_.path().string());
}

std::string PrivateServer::Run(const std::string& words) const {
    const std::string port = PortOf(url_);
    const std::string command =
        fmt::format("{}{} bash {}/tests/support/{} {}", port.empty() ? "env" : port_variable_ + "=",
                    port, KSANA_SOURCE_DIR, script_, words);
    std::string output;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return output;
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
        output += buffer.data();
    }
    EXPECT_EQ(::pclose(pipe), 0) << command;
    while (output.ends_with('\n')) output.pop_back();
    return output;
}

void PrivateServer::Halt() { Run("halt " + folder_.path().string()); }

void PrivateServer::Restart() {
    Halt();
    EXPECT_EQ(Run(folder_.path()), url_);
}

void PrivateServer::Freeze(const std::string& pid_file) {
    pid_t main = 0;
    std::ifstream(File(pid_file)) >> main;
    ASSERT_GT(main, 1);
    frozen_ = {main};
    StopAndWait(main);  // first, so that it starts no other process
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", main));
    for (pid_t child = 0; children >> child;) {
        frozen_.push_back(child);
        StopAndWait(child);
    }
}

void PrivateServer::Thaw() {
    for (const pid_t pid : frozen_) ::kill(pid, SIGCONT);
    frozen_.clear();
}

}  // namespace ksana::testing

#include "support/redis_server.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace ksana::testing {
namespace {

// Runs tests/support/start_redis.sh and returns what it prints.
std::string StartScript(const std::string& arguments) {
    const std::string command =
        fmt::format("bash {}/tests/support/start_redis.sh {}", KSANA_SOURCE_DIR, arguments);
    FILE* const out = ::popen(command.c_str(), "r");
    if (out == nullptr) return {};
    std::string text;
    std::array<char, 256> buffer;
    while (std::fgets(buffer.data(), buffer.size(), out) != nullptr) text += buffer.data();
    EXPECT_EQ(::pclose(out), 0) << command;
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

std::vector<lock_redis::RedisServer> Parsed(const std::string& urls) {
    const auto url = lock::ParseLockUrl(urls);
    EXPECT_TRUE(url) << urls;
    return url ? url->servers : std::vector<lock_redis::RedisServer>();
}

}  // namespace

std::vector<lock_redis::RedisServer> RedisServers(const char* variable) {
    const char* const urls = std::getenv(variable);
    EXPECT_NE(urls, nullptr) << variable
                             << " names no server; start one with "
                                "tests/support/start_redis.sh FOLDER";
    return Parsed(urls == nullptr ? "" : urls);
}

lock_redis::Reply RunRedis(const lock_redis::RedisServer& server,
                           const std::vector<std::string>& words) {
    const SystemClock clock;
    const lock_redis::Deadline deadline(clock, std::chrono::seconds(20));
    if (auto loaded = lock_redis::LoadHiredis(); !loaded) {
        ADD_FAILURE() << loaded.error().Describe();
        return {};
    }
    auto connection = lock_redis::Connection::Open(server, nullptr, deadline);
    if (!connection) {
        ADD_FAILURE() << words[0] << ": " << connection.error().Describe();
        return {};
    }
    auto reply = (*connection)->Send(words, deadline) ? (*connection)->Receive(deadline)
                                                      : Error(Code::kUnavailable, "not sent");
    if (!reply) {
        ADD_FAILURE() << words[0] << ": " << reply.error().Describe();
        return {};
    }
    return *std::move(reply);
}

PrivateRedis::PrivateRedis(std::string options) : options_(std::move(options)) { Start(); }

PrivateRedis::~PrivateRedis() {
    if (started_) StartScript("stop " + folder_.path().string());
}

void PrivateRedis::Start() {
    std::string arguments = folder_.path().string() + " " + options_;
    if (started_) arguments += fmt::format(" --port {}", server_.port);
    const auto servers = Parsed(StartScript(arguments));
    if (!servers.empty()) server_ = servers.front();
    started_ = true;
}

lock_redis::Reply PrivateRedis::Run(const std::vector<std::string>& words) {
    return RunRedis(server_, words);
}

void PrivateRedis::Signal(int number) const {
    std::ifstream file(folder_.File("redis.pid"));
    pid_t process = 0;
    file >> process;
    ASSERT_GT(process, 1);
    ASSERT_EQ(::kill(process, number), 0);
}

void PrivateRedis::Pause() { Signal(SIGSTOP); }
void PrivateRedis::Continue() { Signal(SIGCONT); }
void PrivateRedis::Kill() { StartScript("stop " + folder_.path().string()); }

void PrivateRedis::Restart() {
    Kill();
    Start();
}

}  // namespace ksana::testing

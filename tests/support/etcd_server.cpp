#include "support/etcd_server.hpp"

#include <fmt/core.h>
#include <signal.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "ksana/http_client/client.hpp"

namespace ksana::testing {
namespace {

std::uint16_t PortOf(const std::string& url) {
    const std::size_t colon = url.rfind(':');
    return colon == std::string::npos
               ? 0
               : static_cast<std::uint16_t>(std::strtoul(url.c_str() + colon + 1, nullptr, 10));
}

}  // namespace

std::uint16_t EtcdPort() {
    const char* url = std::getenv("KSANA_TEST_ETCD");
    EXPECT_NE(url, nullptr) << "KSANA_TEST_ETCD names no server; start one with "
                               "tests/support/start_etcd.sh FOLDER";
    return url == nullptr ? 1 : PortOf(url);
}

lock_etcd::EtcdLockOptions EtcdOptions(std::uint16_t port, const Clock& clock) {
    return {.endpoints = {{"127.0.0.1", port}},
            .clock = clock,
            .ca_file = {},
            .user = {},
            .password = {},
            .timeout = std::chrono::seconds(30)};
}

std::unique_ptr<lock::LockDriver> OpenEtcd(lock_etcd::EtcdLockOptions options) {
    auto driver = lock_etcd::OpenEtcdLocks(std::move(options));
    if (driver) return std::move(*driver);
    ADD_FAILURE() << driver.error().Describe();
    return nullptr;
}

codec::Json EtcdPost(std::uint16_t port, std::string_view path, const std::string& body,
                     const std::string& token) {
    const SystemClock clock;
    http_client::Client client({}, clock);
    EXPECT_TRUE(client.Start());
    http_client::CallRequest request{.method = HttpMethod::kPost,
                                     .url = fmt::format("http://127.0.0.1:{}{}", port, path),
                                     .headers = {},
                                     .body = body,
                                     .max_kept = 16 << 20,
                                     .max_read = 16 << 20,
                                     .egress = {}};
    if (!token.empty()) request.headers.push_back({"Authorization", token});
    std::promise<http_client::CallAnswer> promise;
    client.Send(std::move(request),
                [&](http_client::CallAnswer answer) { promise.set_value(std::move(answer)); });
    const http_client::CallAnswer answer = promise.get_future().get();
    const auto json = codec::Json::Parse(answer.body);
    EXPECT_TRUE(json) << path << ": " << answer.error_text << answer.body;
    return json ? *json : codec::Json();
}

bool Eventually(const std::function<bool()>& holds) {
    SystemClock clock;
    const SteadyPoint deadline = clock.SteadyNow() + std::chrono::minutes(1);
    Wakeup nothing;
    while (!holds()) {
        if (clock.SteadyNow() > deadline) return false;
        clock.Wait(nothing, clock.SteadyNow() + std::chrono::milliseconds(10), {});
    }
    return true;
}

EtcdServer::EtcdServer(bool tls) : tls_(tls) { Start(); }

EtcdServer::~EtcdServer() { Script("stop"); }

void EtcdServer::Kill() { Script("kill"); }

void EtcdServer::Start() {
    port_ = PortOf(Script(""));
    EXPECT_NE(port_, 0) << "etcd did not start";
}

void EtcdServer::LoseData() {
    std::error_code fault;
    std::filesystem::remove_all(folder_.path() / "data", fault);
    EXPECT_FALSE(fault);
}

void EtcdServer::Pause() { ASSERT_EQ(::kill(Pid(), SIGSTOP), 0); }

void EtcdServer::Resume() { ASSERT_EQ(::kill(Pid(), SIGCONT), 0); }

std::size_t EtcdServer::Leases() const {
    return EtcdPost(port_, "/v3/lease/leases", "{}").At("/leases").Items().size();
}

std::string EtcdServer::Script(const std::string& arguments) const {
    const std::string command =
        fmt::format("KSANA_ETCD_TLS={} bash {}/tests/support/start_etcd.sh {} {}", tls_ ? "1" : "",
                    KSANA_SOURCE_DIR, arguments, folder_.path().string());
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    std::array<char, 256> line{};
    while (pipe != nullptr && std::fgets(line.data(), line.size(), pipe) != nullptr) {
        output += line.data();
    }
    EXPECT_TRUE(pipe != nullptr && ::pclose(pipe) == 0) << command;
    return output;
}

int EtcdServer::Pid() const {
    std::ifstream file(folder_.path() / "pid");
    int pid = 0;
    file >> pid;
    EXPECT_GT(pid, 1);
    // A wrong id must not reach kill(): 0 and -1 mean many processes.
    return pid > 1 ? pid : 1 << 30;
}

}  // namespace ksana::testing

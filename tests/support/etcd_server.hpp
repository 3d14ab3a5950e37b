#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ksana/base/time/clock.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/lock_etcd/open_etcd_locks.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::testing {

// Returns the port of the test server (tests/support/start_etcd.sh). Fails the test if there is
// none: a skipped test proves nothing.
std::uint16_t EtcdPort();

// The shortest TTL that a server of start_etcd.sh applies as asked.
inline constexpr Duration kEtcdShortestTtl = std::chrono::seconds(1);

// Options for a busy machine: tests that are not about time get no timeouts.
lock_etcd::EtcdLockOptions EtcdOptions(std::uint16_t port, const Clock& clock);

// Opens a driver. Fails the test on an error.
std::unique_ptr<lock::LockDriver> OpenEtcd(lock_etcd::EtcdLockOptions options);

// Calls the server's JSON gateway as an operator would, without the driver. Fails the test unless
// it answers with JSON; an error of the server is returned like any answer.
codec::Json EtcdPost(std::uint16_t port, std::string_view path, const std::string& body,
                     const std::string& token = "");

// Asks every few milliseconds until `holds` returns true. Returns false if that takes a minute.
bool Eventually(const std::function<bool()>& holds);

// A server that a test has for itself, and may break. The destructor ends it. Owned by the test;
// one thread.
class EtcdServer {
  public:
    explicit EtcdServer(bool tls = false);
    ~EtcdServer();
    EtcdServer(const EtcdServer&) = delete;
    EtcdServer& operator=(const EtcdServer&) = delete;

    std::uint16_t port() const { return port_; }
    std::string CaFile() const { return folder_.File("ca.pem"); }

    void Kill();      // at once (SIGKILL), and waits for it; the data stay
    void Start();     // after Kill, on the same port
    void LoseData();  // after Kill
    void Pause();     // SIGSTOP
    void Resume();
    // Number of leases that exist.
    std::size_t Leases() const;

  private:
    std::string Script(const std::string& arguments) const;
    int Pid() const;

    test::TemporaryFolder folder_;
    const bool tls_;
    std::uint16_t port_ = 0;
};

}  // namespace ksana::testing

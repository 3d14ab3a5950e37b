#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/http_client/egress.hpp"

namespace ksana::http_client {

class Inbox;
class MultiLoop;
struct Counters;

struct ClientOptions {
    std::size_t max_connections = 1024;  // open at once, including idle ones
    std::size_t max_connections_per_host = 256;
    std::string ca_file;  // PEM; replaces the system's certificates. Empty: the system's
    // PEM: revocation lists, of every authority of a chain. Empty: revocation is not looked at.
    std::string crl_file = {};
    EgressRules egress;
    bool plain_path = true;  // send plain HTTP without libcurl where possible (0017)
};

// Totals since the client was constructed.
struct ClientStatistics {
    std::uint64_t calls = 0;                                // ended, with or without an error
    std::array<std::uint64_t, kCallErrorCount> by_error{};  // indexed by CallError
    std::uint64_t connections_made = 0;
    std::uint64_t connections_reused = 0;
};

// Sends any number of concurrent HTTP calls from one thread with epoll. The client implements plain
// HTTP/1.1 itself and uses libcurl's multi interface for everything else. It keeps connections
// alive, speaks HTTP/2 where TLS negotiates it, and resolves names without blocking its thread. It
// uses no proxy, no cookies and no environment variables. The egress rules check every address
// before anything is sent to it. A failed call is reported in its CallAnswer. Thread-safe.
//
// If a kept-alive connection turns out to be closed or reset before any byte of the answer arrives,
// the client sends the call again once over a new connection, whatever its method. A target may
// therefore see a call twice.
class Client final : public Service {
  public:
    // `clock` must outlive the client. The client waits in real time, even with a fake clock.
    Client(ClientOptions options, const Clock& clock);
    ~Client() override;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    std::string_view name() const override { return "http-client"; }
    Result<void> Start() override;

    // Ends all calls in flight with kCancelled.
    void Stop() override;

    // Starts a call without blocking and returns its id. `done` is called exactly once, on the
    // client's thread. It must not block; it may call Send and Cancel, but not Start or Stop. If
    // the client is not running, Send itself calls `done` with kCancelled before it returns; a
    // Start that fails does so for the calls sent meanwhile.
    CallId Send(CallRequest request, CallDone done);

    // Asks the client's thread to end the call with kCancelled. Does nothing if the call has ended.
    void Cancel(CallId id);

    ClientStatistics statistics() const;

  private:
    const ClientOptions options_;
    const Clock& clock_;
    std::atomic<CallId> last_id_{0};
    std::unique_ptr<Counters> counters_;
    std::unique_ptr<Inbox> inbox_;
    Mutex life_;  // held for all of Start and Stop
    bool running_ KSANA_GUARDED_BY(life_) = false;
    // Used only by the client's thread while that runs. Start makes it before the thread and Stop
    // destroys it after the thread, both with `life_` held.
    std::unique_ptr<MultiLoop> loop_;
    LoopThread thread_;
};

// Written by the client's thread, and by Send when the client is not running. Any thread may read.
struct Counters {
    std::array<std::atomic<std::uint64_t>, kCallErrorCount> by_error{};
    std::atomic<std::uint64_t> connections_made{0};
    std::atomic<std::uint64_t> connections_reused{0};
};

}  // namespace ksana::http_client

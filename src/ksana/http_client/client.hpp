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
    std::size_t max_connections = 1024;  // at once, those that idle included
    std::size_t max_connections_per_host = 256;
    std::string ca_file;  // PEM, instead of the system's; empty: the system's
    EgressRules egress;
    bool plain_path = true;  // plain HTTP goes without libcurl where it can
};

// Since the client was made.
struct ClientStatistics {
    std::uint64_t calls = 0;                                // ended, however
    std::array<std::uint64_t, kCallErrorCount> by_error{};  // indexed by CallError
    std::uint64_t connections_made = 0;
    std::uint64_t connections_reused = 0;
};

// Sends HTTP calls, any number at once, from one thread of its own on epoll: plain HTTP/1.1 by
// itself, everything else through libcurl's multi interface. Connections are kept alive and used
// again; HTTP/2 is spoken where TLS offers it; names are resolved off the thread; no proxy, no
// cookies and no settings of the environment are used. Every address is checked by the egress rules
// before anything is sent to it. Thread-safe.
//
// Where a kept-alive connection turns out to be closed or reset before any byte of an answer, the
// call is sent once more over a new one, whatever its method: a target may see a call twice.
class Client final : public Service {
  public:
    // The clock must outlive the client; waiting is done in real time.
    Client(ClientOptions options, const Clock& clock);
    ~Client() override;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    std::string_view name() const override { return "http-client"; }
    Result<void> Start() override;

    // Ends the calls under way as cancelled.
    void Stop() override;

    // Returns at once. `done` is called exactly once, on the client's thread: it returns soon, may
    // send and cancel, and must not start or stop the client. Where the client is not running,
    // `done` is called as cancelled before Send returns.
    CallId Send(CallRequest request, CallDone done);

    // Ends the call as cancelled; nothing happens where it is over.
    void Cancel(CallId id);

    ClientStatistics statistics() const;

  private:
    const ClientOptions options_;
    const Clock& clock_;
    std::atomic<CallId> last_id_{0};
    std::unique_ptr<Counters> counters_;
    std::unique_ptr<Inbox> inbox_;
    Mutex life_;  // held over the whole of Start and Stop
    bool running_ KSANA_GUARDED_BY(life_) = false;
    // Of the thread while it runs; made before its start and dropped after its end, with life_
    // held.
    std::unique_ptr<MultiLoop> loop_;
    LoopThread thread_;
};

// Written by the client's thread, read by any.
struct Counters {
    std::array<std::atomic<std::uint64_t>, kCallErrorCount> by_error{};
    std::atomic<std::uint64_t> connections_made{0};
    std::atomic<std::uint64_t> connections_reused{0};
};

}  // namespace ksana::http_client

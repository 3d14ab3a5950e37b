#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/http_server/server_options.hpp"
#include "ksana/http_server/statistics.hpp"

namespace ksana::http_server {

// An HTTP/1.1 server: I/O threads that read and write, and a pool of threads for handlers that may
// block. The composition root owns it. Thread-safe, as a Service; but a handler must not call Stop,
// which waits for the handler.
//
// Stop accepts no new connections, closes idle ones at once and lets requests in flight finish with
// "Connection: close". After the drain time it closes all other connections. It still waits for
// handlers that run on the pool, because a thread cannot be ended from outside.
class Server final : public Service {
  public:
    // `clock` and `random` must outlive the server. With more than one I/O thread, `random` must be
    // thread-safe.
    Server(ServerOptions options, Router router, const Clock& clock, Random& random);
    ~Server() override;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::string_view name() const override { return "http_server"; }
    // Fails with kInvalidArgument if the address is not an IP address or the certificate or key is
    // unusable, and with kUnavailable if it cannot be bound.
    Result<void> Start() override;
    void Stop() override;

    // The port that the last successful Start listens on; 0 before.
    std::uint16_t port() const { return port_; }
    const Router& router() const { return router_; }
    const Statistics& statistics() const { return statistics_; }

  private:
    enum class State : std::uint8_t { kIdle, kRunning, kStopping };
    struct Running;

    const ServerOptions options_;
    const Router router_;
    const Clock& clock_;
    Random& random_;
    Statistics statistics_;
    std::atomic<std::uint16_t> port_{0};
    Mutex mutex_;
    CondVar changed_;
    State state_ KSANA_GUARDED_BY(mutex_) = State::kIdle;
    std::unique_ptr<Running> running_ KSANA_GUARDED_BY(mutex_);  // set while kRunning
};

}  // namespace ksana::http_server

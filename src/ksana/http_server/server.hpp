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

// An HTTP/1.1 server: I/O threads that read, answer and write, and a pool of threads for handlers
// that may block. Keeps the rules of Service; Stop must not be called from a handler, as it waits
// for it.
//
// Stop takes no new connection, closes idle ones at once and lets what is under way end with
// "Connection: close"; after the drain time the rest is closed too. A handler that still runs on
// the pool then is waited for, as a thread cannot be ended from outside.
class Server final : public Service {
  public:
    // Clock and random must outlive it; random must be thread-safe with more than one I/O thread.
    Server(ServerOptions options, Router router, const Clock& clock, Random& random);
    ~Server() override;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::string_view name() const override { return "http_server"; }
    // kInvalidArgument: the address is none, or certificate and key cannot be used.
    // kUnavailable: the address cannot be had.
    Result<void> Start() override;
    void Stop() override;

    // Of the last Start; 0 before.
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
    std::unique_ptr<Running> running_ KSANA_GUARDED_BY(mutex_);  // there while kRunning
};

}  // namespace ksana::http_server

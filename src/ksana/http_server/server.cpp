#include "ksana/http_server/server.hpp"

#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/routing/dispatch.hpp"
#include "ksana/http_server/wire/network.hpp"

namespace ksana::http_server {

// The parts that exist between Start and Stop. The network is destroyed before the pool, which its
// connections use.
struct Server::Running {
    explicit Running(Server& server)
        : pool({.threads = server.options_.pool_threads, .queue = server.options_.pool_queue},
               [](Work work) { RunWork(std::move(work)); }),
          network({.options = server.options_,
                   .router = server.router_,
                   .clock = server.clock_,
                   .random = server.random_,
                   .pool = pool,
                   .bodies = std::make_shared<BodyBudget>(server.options_.max_bodies_bytes),
                   .statistics = server.statistics_}) {}

    WorkPool pool;
    Network network;
};

Server::Server(ServerOptions options, Router router, const Clock& clock, Random& random)
    : options_(std::move(options)), router_(std::move(router)), clock_(clock), random_(random) {}

Server::~Server() { Stop(); }

Result<void> Server::Start() {
    MutexLock lock(mutex_);
    changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return state_ != State::kStopping; });
    if (state_ == State::kRunning) return {};
    auto running = std::make_unique<Running>(*this);
    KSANA_TRY_VOID(running->pool.Start());
    KSANA_TRY_VOID(running->network.Open());
    port_ = running->network.port();
    running_ = std::move(running);
    state_ = State::kRunning;
    Log(LogLevel::kInfo, "listening",
        {{"address", options_.address}, {"port", port_.load()}, {"tls", options_.tls.has_value()}});
    return {};
}

void Server::Stop() {
    MutexLock lock(mutex_);
    if (state_ == State::kStopping) {
        changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return state_ != State::kStopping; });
        return;
    }
    if (state_ == State::kIdle) return;
    state_ = State::kStopping;
    std::unique_ptr<Running> ending = std::move(running_);
    // Without the lock, so that other callers of Start and Stop can wait on `changed_`.
    lock.Unlock();
    if (options_.on_drain) options_.on_drain();
    ending->network.Close();
    ending->pool.Stop();
    ending.reset();
    lock.Lock();
    state_ = State::kIdle;
    changed_.NotifyAll();
}

}  // namespace ksana::http_server

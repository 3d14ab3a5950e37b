#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/http_server/routing/reply.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::http_server {

// A request to be handled, with the reply to answer it.
struct Work {
    const Route* route;
    Request request;
    Reply reply;
};

// A pool of threads for handlers, with a bounded queue: when a store is slow, requests are rejected
// instead of piling up. Starts with one thread, and adds one, up to the limit, when all are busy;
// threads then stay until Stop. Owned by the Server. Thread-safe.
class WorkPool {
  public:
    struct Options {
        std::size_t threads = 8;
        std::size_t queue = 1024;  // most requests waiting for a thread
    };
    // `run` is called on a pool thread for each submitted request. It must not throw.
    WorkPool(const Options& options, std::function<void(Work)> run);
    ~WorkPool();
    WorkPool(const WorkPool&) = delete;
    WorkPool& operator=(const WorkPool&) = delete;

    Result<void> Start();
    // Waits for running handlers. Drops the queued requests with their replies, which answer 500.
    void Stop();

    // Queues `work`. Returns false and leaves it unchanged if the queue is full.
    bool TrySubmit(Work& work);

  private:
    Result<void> StartOneMore() KSANA_REQUIRES(mutex_);
    void Loop(const std::stop_token& stop);

    const Options options_;
    const std::function<void(Work)> run_;
    Mutex mutex_;
    StopCondVar arrived_;
    std::deque<Work> queue_ KSANA_GUARDED_BY(mutex_);
    std::size_t started_ KSANA_GUARDED_BY(mutex_) = 0;  // threads_[0] to threads_[started_ - 1] run
    std::size_t idle_ KSANA_GUARDED_BY(mutex_) = 0;     // started threads that wait for work
    bool stopped_ KSANA_GUARDED_BY(mutex_) = false;
    std::vector<std::unique_ptr<LoopThread>> threads_;  // made by the constructor, then constant
};

}  // namespace ksana::http_server

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

// A request on its way to its handler.
struct Work {
    const Route* route;
    Request request;
    Reply reply;
};

// Up to so many threads and a bounded queue before them: when a store is slow, requests are refused
// rather than heaped up. A thread is started when the others are busy, and then stays: a server
// that nobody asks much has one. Thread-safe.
class WorkPool {
  public:
    struct Options {
        std::size_t threads = 8;
        std::size_t queue = 1024;  // that wait for a thread
    };
    // `run` does the work; it must not throw.
    WorkPool(const Options& options, std::function<void(Work)> run);
    ~WorkPool();
    WorkPool(const WorkPool&) = delete;
    WorkPool& operator=(const WorkPool&) = delete;

    Result<void> Start();
    // Waits for what runs. What still waits is dropped, and with it its replies.
    void Stop();

    // False, and `work` is as it was, when the queue is full.
    bool TrySubmit(Work& work);

  private:
    Result<void> StartOneMore() KSANA_REQUIRES(mutex_);
    void Loop(const std::stop_token& stop);

    const Options options_;
    const std::function<void(Work)> run_;
    Mutex mutex_;
    StopCondVar arrived_;
    std::deque<Work> queue_ KSANA_GUARDED_BY(mutex_);
    std::size_t started_ KSANA_GUARDED_BY(mutex_) = 0;  // the first so many of threads_
    std::size_t idle_ KSANA_GUARDED_BY(mutex_) = 0;     // of these
    bool stopped_ KSANA_GUARDED_BY(mutex_) = false;
    std::vector<std::unique_ptr<LoopThread>> threads_;  // as the constructor made them
};

}  // namespace ksana::http_server

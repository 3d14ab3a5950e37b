#include "ksana/http_server/routing/work_pool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace ksana::http_server {

WorkPool::WorkPool(const Options& options, std::function<void(Work)> run)
    : options_(options), run_(std::move(run)) {
    for (std::size_t i = 0; i < std::max<std::size_t>(options_.threads, 1); ++i) {
        threads_.push_back(std::make_unique<LoopThread>(
            fmt::format("http_pool_{}", i), [this](const std::stop_token& stop) { Loop(stop); }));
    }
}

WorkPool::~WorkPool() { Stop(); }

Result<void> WorkPool::Start() {
    const MutexLock lock(mutex_);
    stopped_ = false;
    if (started_ > 0) return {};
    return StartOneMore();
}

// The new thread waits for `mutex_` and then finds the queued work.
Result<void> WorkPool::StartOneMore() {
    KSANA_TRY_VOID(threads_[started_]->Start());
    ++started_;
    return {};
}

void WorkPool::Stop() {
    {
        const MutexLock lock(mutex_);
        stopped_ = true;
    }
    for (const auto& thread : threads_) thread->Stop();
    std::deque<Work> dropped;
    const MutexLock lock(mutex_);
    dropped.swap(queue_);
    started_ = 0;
}

bool WorkPool::TrySubmit(Work& work) {
    {
        const MutexLock lock(mutex_);
        if (queue_.size() >= options_.queue) return false;
        queue_.push_back(std::move(work));
        const bool busy = queue_.size() > idle_ && started_ < threads_.size();
        // If no further thread can be started, the existing ones do the work.
        if (busy && !stopped_) (void)StartOneMore();
    }
    arrived_.NotifyOne();
    return true;
}

void WorkPool::Loop(const std::stop_token& stop) {
    MutexLock lock(mutex_);
    for (;;) {
        ++idle_;
        const bool found =
            arrived_.Wait(lock, stop, [this]() KSANA_REQUIRES(mutex_) { return !queue_.empty(); });
        --idle_;
        if (!found || stop.stop_requested()) return;
        Work work = std::move(queue_.front());
        queue_.pop_front();
        lock.Unlock();
        run_(std::move(work));
        lock.Lock();
    }
}

}  // namespace ksana::http_server

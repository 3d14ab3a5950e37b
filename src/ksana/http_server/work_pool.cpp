#include "ksana/http_server/work_pool.hpp"

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
    for (const auto& thread : threads_) {
        auto started = thread->Start();
        if (started) continue;
        Stop();
        return started;
    }
    return {};
}

void WorkPool::Stop() {
    for (const auto& thread : threads_) thread->Stop();
    std::deque<Work> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
}

bool WorkPool::TrySubmit(Work& work) {
    {
        const std::lock_guard lock(mutex_);
        if (queue_.size() >= options_.queue) return false;
        queue_.push_back(std::move(work));
    }
    arrived_.notify_one();
    return true;
}

void WorkPool::Loop(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (arrived_.wait(lock, stop, [this] { return !queue_.empty(); })) {
        if (stop.stop_requested()) return;
        Work work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        run_(std::move(work));
        lock.lock();
    }
}

}  // namespace ksana::http_server

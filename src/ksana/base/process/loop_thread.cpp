#include "ksana/base/process/loop_thread.hpp"

#include <pthread.h>

#include <exception>
#include <system_error>
#include <utility>

#include "ksana/base/error/check.hpp"

namespace ksana {

LoopThread::LoopThread(std::string name, Body body)
    : name_(std::move(name)), body_(std::move(body)) {}

LoopThread::~LoopThread() { Stop(); }

Result<void> LoopThread::Start() {
    MutexLock lock(mutex_);
    changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return state_ != State::kStopping; });
    if (state_ == State::kRunning) {
        if (!body_ended_) return {};
        thread_.join();  // does not block: the body has returned
    }
    try {
        thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    } catch (const std::system_error& error) {
        return Error(Code::kExhausted, "cannot start the thread " + name_ + ": " + error.what());
    }
    running_id_ = thread_.get_id();
    body_ended_ = false;
    state_ = State::kRunning;
    return {};
}

void LoopThread::Stop() {
    MutexLock lock(mutex_);
    if (running_id_ == std::this_thread::get_id()) {
        thread_.request_stop();  // has no effect if another Stop has already moved the thread away
        return;
    }
    if (state_ == State::kStopping) {
        changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return state_ != State::kStopping; });
        return;
    }
    if (state_ == State::kIdle) return;
    state_ = State::kStopping;
    std::jthread ending = std::move(thread_);
    // Joins without the lock: the body may call Stop itself, and other callers may wait here.
    lock.Unlock();
    ending.request_stop();
    ending.join();
    lock.Lock();
    running_id_ = {};
    state_ = State::kIdle;
    changed_.NotifyAll();
}

void LoopThread::Run(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
    try {
        body_(stop);
    } catch (const std::exception& error) {
        KSANA_CHECK(false, "the loop " + name_ + " threw: " + error.what());
    }
    const MutexLock lock(mutex_);
    body_ended_ = true;
}

}  // namespace ksana

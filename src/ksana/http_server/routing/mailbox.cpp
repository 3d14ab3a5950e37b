#include "ksana/http_server/routing/mailbox.hpp"

#include <utility>

namespace ksana::http_server {

void Mailbox::Post(Task task) {
    const MutexLock lock(mutex_);
    if (!wake_) return;
    tasks_.push_back(std::move(task));
    if (tasks_.size() == 1) wake_();
}

std::vector<Mailbox::Task> Mailbox::TakeAll() {
    const MutexLock lock(mutex_);
    return std::exchange(tasks_, {});
}

void Mailbox::Close() {
    // Destroyed after the lock is released: a task may hold the last reference to an object that
    // posts when it is destroyed.
    std::vector<Task> dropped;
    const MutexLock lock(mutex_);
    wake_ = nullptr;
    dropped.swap(tasks_);
}

}  // namespace ksana::http_server

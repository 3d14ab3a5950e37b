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
    // Let go outside the lock: a task may hold the last reference to something that posts.
    std::vector<Task> dropped;
    const MutexLock lock(mutex_);
    wake_ = nullptr;
    dropped.swap(tasks_);
}

}  // namespace ksana::http_server

#include "ksana/http_client/inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace ksana::http_client {

Inbox::~Inbox() {
    if (wake_fd_ >= 0) close(wake_fd_);
}

Result<void> Inbox::Open() {
    const MutexLock lock(mutex_);
    if (wake_fd_ < 0) {
        wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (wake_fd_ < 0) {
            return Error(Code::kExhausted, "cannot make an eventfd for the HTTP client: " +
                                               std::generic_category().message(errno));
        }
    }
    open_ = true;
    return {};
}

bool Inbox::Put(Submission& submission) {
    bool wake = false;
    {
        const MutexLock lock(mutex_);
        if (!open_) return false;
        batch_.submissions.push_back(std::move(submission));
        wake = std::exchange(sleeping_, false);
    }
    if (wake) Wake();
    return true;
}

void Inbox::Cancel(CallId id) {
    bool wake = false;
    {
        const MutexLock lock(mutex_);
        if (!open_) return;
        batch_.cancels.push_back(id);
        wake = std::exchange(sleeping_, false);
    }
    if (wake) Wake();
}

void Inbox::Wake() {
    const std::uint64_t one = 1;
    // Fails only when the counter is full; then the descriptor is readable anyway.
    [[maybe_unused]] const auto written = write(wake_fd_, &one, sizeof one);
}

void Inbox::Take(InboxBatch& batch) {
    batch.submissions.clear();
    batch.cancels.clear();
    const MutexLock lock(mutex_);
    sleeping_ = false;
    std::swap(batch, batch_);
}

bool Inbox::PrepareToSleep() {
    const MutexLock lock(mutex_);
    sleeping_ = batch_.Empty();
    return sleeping_;
}

void Inbox::DrainWakes() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_fd_, &count, sizeof count);
}

InboxBatch Inbox::Close() {
    const MutexLock lock(mutex_);
    open_ = false;
    sleeping_ = false;
    return std::exchange(batch_, {});
}

}  // namespace ksana::http_client

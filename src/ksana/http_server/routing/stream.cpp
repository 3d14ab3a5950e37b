#include "ksana/http_server/routing/stream.hpp"

#include <utility>

namespace ksana::http_server {

bool Stream::TryPush(std::string_view text) {
    std::unique_lock lock(mutex_);
    if (ended_ || gone_) return false;
    if (text.size() > limit_ - waiting_.size()) {
        refused_ = true;
        return false;
    }
    const bool first = waiting_.empty();
    waiting_ += text;
    if (first) Wake(std::move(lock));
    return true;
}

void Stream::End() {
    std::unique_lock lock(mutex_);
    if (ended_ || gone_) return;
    ended_ = true;
    Wake(std::move(lock));
}

bool Stream::over() const {
    const std::lock_guard lock(mutex_);
    return ended_ || gone_;
}

// Outside the lock: it takes others.
void Stream::Wake(std::unique_lock<std::mutex> lock) {
    const std::function<void()> wake = wake_;
    lock.unlock();
    if (wake) wake();
}

void Stream::Attach(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
}

Stream::Piece Stream::Take() {
    Piece piece;
    bool room = false;
    {
        const std::lock_guard lock(mutex_);
        piece.text.swap(waiting_);
        piece.last = ended_;
        room = std::exchange(refused_, false);
    }
    if (room && on_room_) on_room_();
    return piece;
}

void Stream::Abandon() {
    std::function<void()> dropped;
    {
        const std::lock_guard lock(mutex_);
        gone_ = true;
        waiting_ = std::string();
        dropped.swap(wake_);
    }
    if (on_room_) on_room_();
}

}  // namespace ksana::http_server

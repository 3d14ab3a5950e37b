#include "ksana/http_server/routing/stream.hpp"

#include <utility>

namespace ksana::http_server {

bool Stream::TryPush(std::string_view text) {
    std::function<void()> wake;
    {
        const MutexLock lock(mutex_);
        if (ended_ || gone_) return false;
        if (text.size() > limit_ - waiting_.size()) {
            refused_ = true;
            return false;
        }
        if (waiting_.empty()) wake = wake_;
        waiting_ += text;
    }
    if (wake) wake();  // outside the lock, as it takes other locks
    return true;
}

void Stream::End() {
    std::function<void()> wake;
    {
        const MutexLock lock(mutex_);
        if (ended_ || gone_) return;
        ended_ = true;
        wake = wake_;
    }
    if (wake) wake();  // outside the lock, as it takes other locks
}

bool Stream::over() const {
    const MutexLock lock(mutex_);
    return ended_ || gone_;
}

void Stream::Attach(std::function<void()> wake) {
    const MutexLock lock(mutex_);
    wake_ = std::move(wake);
}

Stream::Piece Stream::Take() {
    Piece piece;
    bool room = false;
    {
        const MutexLock lock(mutex_);
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
        const MutexLock lock(mutex_);
        gone_ = true;
        waiting_ = std::string();
        dropped.swap(wake_);
    }
    if (on_room_) on_room_();
}

}  // namespace ksana::http_server

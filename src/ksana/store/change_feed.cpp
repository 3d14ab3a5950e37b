#include "ksana/store/change_feed.hpp"

#include <utility>

namespace ksana::store {

ChangeFeed::Subscription::Subscription(Subscription&& other) noexcept
    : feed_(std::exchange(other.feed_, nullptr)), id_(other.id_) {}

ChangeFeed::Subscription& ChangeFeed::Subscription::operator=(Subscription&& other) noexcept {
    std::swap(feed_, other.feed_);
    std::swap(id_, other.id_);
    return *this;
}

ChangeFeed::Subscription::~Subscription() {
    if (feed_ != nullptr) feed_->Unsubscribe(id_);
}

ChangeFeed::Subscription ChangeFeed::Subscribe(Topics topics, Listener listener) {
    const MutexLock lock(mutex_);
    entries_.push_back({++last_id_, topics, std::move(listener)});
    return {this, last_id_};
}

void ChangeFeed::Unsubscribe(std::uint64_t id) {
    const MutexLock lock(mutex_);
    std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
}

void ChangeFeed::Publish(Topics topics) {
    if (topics.Empty()) return;
    const MutexLock lock(mutex_);
    for (const Entry& entry : entries_) {
        if (const Topics wanted = entry.topics & topics; !wanted.Empty()) entry.listener(wanted);
    }
}

}  // namespace ksana::store

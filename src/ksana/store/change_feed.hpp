#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include "ksana/base/process/mutex.hpp"
#include "ksana/store/topics.hpp"

namespace ksana::store {

// Notifies listeners after a commit, made by this process or by another node. A notification is a
// hint: it may be spurious, one call may cover several commits, and the listener must read the
// store to learn what changed. Owned by the backend of a store. Thread-safe.
class ChangeFeed {
  public:
    // Called on the committing thread, or on the thread that listens for other nodes, with the
    // topics of the subscription that changed. Must return quickly (a Wakeup::Notify); must not
    // throw, subscribe, unsubscribe or call the store.
    using Listener = std::function<void(Topics)>;

    // Unsubscribes when destroyed. The destructor blocks while the listener is being called; the
    // listener is not called afterwards.
    class [[nodiscard]] Subscription {
      public:
        Subscription() = default;
        Subscription(Subscription&& other) noexcept;
        Subscription& operator=(Subscription&& other) noexcept;
        ~Subscription();

      private:
        friend class ChangeFeed;
        Subscription(ChangeFeed* feed, std::uint64_t id) : feed_(feed), id_(id) {}

        ChangeFeed* feed_ = nullptr;
        std::uint64_t id_ = 0;
    };

    // Calls `listener` for every commit that touches one of `topics`. The feed must outlive the
    // subscription.
    Subscription Subscribe(Topics topics, Listener listener);

    // Calls the listeners. Drivers call this after a commit.
    void Publish(Topics topics);

  private:
    struct Entry {
        std::uint64_t id;
        Topics topics;
        Listener listener;
    };

    void Unsubscribe(std::uint64_t id);

    Mutex mutex_;  // held while listeners are called
    std::list<Entry> entries_ KSANA_GUARDED_BY(mutex_);
    std::uint64_t last_id_ KSANA_GUARDED_BY(mutex_) = 0;
};

}  // namespace ksana::store

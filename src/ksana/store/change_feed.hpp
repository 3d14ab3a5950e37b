#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include "ksana/base/process/mutex.hpp"
#include "ksana/store/topics.hpp"

namespace ksana::store {

// Tells whoever wants to know that something was committed, by this process or by another node.
// A hint, never the truth: it may come for nothing, several commits may make one call, and a
// listener still looks into the store. Thread-safe.
class ChangeFeed {
  public:
    // Called on the thread that committed, or on the one that listens to other nodes. Must return
    // soon (a Wakeup::Notify), must not throw, subscribe or unsubscribe, or call the store.
    using Listener = std::function<void(Topics)>;

    // Ends with its lifetime: afterwards the listener is not called and no call is under way.
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

    // The feed must outlive the subscription.
    Subscription Subscribe(Topics topics, Listener listener);

    // For drivers, after the commit.
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

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store_postgres/wire/connection_pool.hpp"

namespace ksana::store_postgres {

// Tells other nodes what this one has committed, and this one's feed what others did. NOTIFY takes
// a lock of the whole database cluster at commit, so it never goes with the data: one thread sends
// what has gathered, a few milliseconds apart at most. Another thread listens. Both have their own
// connections and come back by themselves; after a gap everything may have changed, and the feed
// is told so. Notices are hints: losing one costs a poll's delay, nothing else.
class ChangeNotices {
  public:
    struct Parts {
        const ConnectionPool& pool;  // its options only: both connections are beside it
        Backoff& backoff;
        Clock& clock;
        store::ChangeFeed& feed;
        std::string schema;
        Duration timeout;  // of one exchange with the server
    };
    explicit ChangeNotices(Parts parts);

    // Listens from the return on, unless the server went away meanwhile.
    Result<void> Start();

    // After a commit; any thread. The local feed is told by the caller.
    void Announce(store::Topics topics);

  private:
    void Send(const std::stop_token& stop);
    bool SendOne(std::unique_ptr<Connection>& connection, store::Topics topics);
    void Listen(const std::stop_token& stop);
    std::optional<Fault> Subscribe();
    void Publish(const std::vector<Connection::Notification>& notifications);

    const Parts parts_;
    const std::string node_;     // in front of our own notices
    const std::string channel_;  // of the schema
    std::atomic<std::uint32_t> pending_{0};
    Wakeup wakeup_;
    std::unique_ptr<Connection> listening_;  // used by Start, then by the listener's thread
    LoopThread sender_;
    LoopThread listener_;
};

}  // namespace ksana::store_postgres

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store_postgres/node_session.hpp"
#include "ksana/store_postgres/wire/connection_pool.hpp"

namespace ksana::store_postgres {

// Exchanges change notices between nodes: tells other nodes which topics this node has committed,
// and publishes the topics of other nodes to the local change feed.
//
// NOTIFY takes a lock of the whole database cluster at commit, so it never goes with the data: the
// thread "pg-notify" sends the pending topics as one notice, with a pause of a few milliseconds
// between notices. The thread "pg-listen" receives. Each thread has its own connection and
// reconnects by itself; after a gap every topic is published, because anything may have changed
// meanwhile. A notice is a hint: a lost notice delays a reader until its next poll and has no other
// effect.
class ChangeNotices {
  public:
    struct Parts {
        // Used for its options: both connections are opened outside the pool.
        const ConnectionPool& pool;
        Backoff& backoff;
        Clock& clock;
        store::ChangeFeed& feed;
        std::string schema;
        Duration timeout;      // of one round trip to the server
        NodeSession& session;  // attached to the listener's connection
    };
    explicit ChangeNotices(Parts parts);

    // Subscribes and starts both threads. After success, notices arrive unless the connection
    // breaks. Fails if the server is unreachable.
    Result<void> Start();

    // Queues `topics` for the other nodes. Call after a commit, from any thread. The caller
    // publishes to the local feed itself.
    void Announce(store::Topics topics);

  private:
    void Send(const std::stop_token& stop);
    bool SendOne(std::unique_ptr<Connection>& connection, store::Topics topics);
    void Listen(const std::stop_token& stop);
    std::optional<Fault> Subscribe();
    std::optional<Fault> Hear();
    void CloseListening();
    void Publish(const std::vector<Connection::Notification>& notifications);

    const Parts parts_;
    const std::string node_;  // random; prefixes this node's own notices so that it can skip them
    const std::string channel_;  // one channel for each schema
    // Bits of the topics that are not sent yet.
    std::atomic<std::uint32_t> pending_{0};
    Wakeup wakeup_;
    std::unique_ptr<Connection> listening_;  // used by Start, then only by the listener thread
    LoopThread sender_;
    LoopThread listener_;
};

}  // namespace ksana::store_postgres

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/lock_redis/scripts.hpp"
#include "ksana/lock_redis/wire/connection.hpp"

namespace ksana::lock_redis {

// One server, with its idle connections. Thread-safe. Owned by the driver.
class RedisNode {
  public:
    // `clock` must outlive the node; `tls` is null for a server without TLS.
    RedisNode(RedisServer server, std::shared_ptr<const TlsContext> tls, const Clock& clock);
    ~RedisNode();
    RedisNode(const RedisNode&) = delete;
    RedisNode& operator=(const RedisNode&) = delete;

    std::string Name() const { return NameOf(server_); }

    // The server could not be reached a moment ago.
    bool Down() const;

  private:
    friend class Exchange;

    static constexpr std::size_t kMostIdle = 16;
    static constexpr Duration kDownMemory = std::chrono::seconds(1);

    std::unique_ptr<Connection> TakeIdle();
    Result<std::unique_ptr<Connection>> Connect(const Deadline& deadline);
    void GiveBack(std::unique_ptr<Connection> connection);
    void DropIdle();
    void NoteDown();

    const RedisServer server_;
    const std::shared_ptr<const TlsContext> tls_;
    const Clock& clock_;
    mutable Mutex mutex_;
    std::vector<std::unique_ptr<Connection>> idle_ KSANA_GUARDED_BY(mutex_);
    std::optional<SteadyPoint> down_until_ KSANA_GUARDED_BY(mutex_);
};

// One command and its answer. Sent on construction, so that several servers work at the same time.
// A command on a connection that the server had closed meanwhile is sent a second time, on a new
// one; a script that the server does not know is sent in full. For one thread.
class Exchange {
  public:
    // `node` must outlive the exchange.
    Exchange(RedisNode& node, Command command, const Deadline& deadline);

    // Returns the answer; only once. An error of the server is an error here.
    Result<Reply> Finish();

  private:
    Result<void> Send();
    Result<Reply> Receive();
    Result<Reply> Repeat();

    RedisNode& node_;
    Command command_;
    const Deadline deadline_;
    std::unique_ptr<Connection> connection_;
    bool reused_ = false;  // the connection was idle: the server may have closed it
    Result<void> sent_;
};

}  // namespace ksana::lock_redis

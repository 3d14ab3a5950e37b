#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/store_postgres/wire/connection.hpp"
#include "ksana/store_postgres/wire/deadline.hpp"

namespace ksana::store_postgres {

// At most so many connections (G-17), made when they are needed and kept. Thread-safe.
class ConnectionPool {
  public:
    // A connection on loan; goes back by itself, and is closed there when it is broken.
    class Lease {
      public:
        Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
            : pool_(&pool), connection_(std::move(connection)) {}
        Lease(Lease&& other) noexcept = default;
        Lease& operator=(Lease&&) = delete;
        ~Lease() {
            if (connection_) pool_->Return(std::move(connection_));
        }
        Connection& operator*() const { return *connection_; }
        Connection* operator->() const { return connection_.get(); }

      private:
        ConnectionPool* pool_;
        std::unique_ptr<Connection> connection_;
    };

    struct Options {
        ConnectionOptions connection;
        std::size_t size = 8;
        Duration connect_timeout{};
    };
    ConnectionPool(Options options, Backoff& backoff)
        : options_(std::move(options)), backoff_(backoff) {}

    // Waits for a free one, and while the server is away; not beyond the deadline.
    std::variant<Lease, Fault> Acquire(const Deadline& deadline);

    // One beside the pool, for its caller to keep; tried once.
    std::variant<std::unique_ptr<Connection>, Fault> Connect(const Deadline& deadline) const;

    // Connections that lie idle are probably as dead as the one that was just lost.
    void DropIdle();

  private:
    std::variant<std::unique_ptr<Connection>, Fault> TakeSlot(const Deadline& deadline);
    std::variant<std::unique_ptr<Connection>, Fault> ConnectPatiently(const Deadline& deadline);
    void Return(std::unique_ptr<Connection> connection);
    void FreeSlot();

    const Options options_;
    Backoff& backoff_;
    Mutex mutex_;
    CondVar freed_;
    // The last used at the end.
    std::vector<std::unique_ptr<Connection>> idle_ KSANA_GUARDED_BY(mutex_);
    std::size_t taken_ KSANA_GUARDED_BY(mutex_) = 0;  // idle ones included
};

}  // namespace ksana::store_postgres

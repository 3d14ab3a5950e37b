#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// A pool of at most `size` connections (G-17), opened on demand and kept open. Owned by
// PostgresBackend; `backoff` must outlive it. Thread-safe. A failed Acquire leaves the pool
// unchanged.
class ConnectionPool {
  public:
    // A connection on loan. The destructor returns it to the pool, which closes it if it is broken.
    // The pool must outlive the lease.
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

    // Returns a connection. Waits until one is free, and while the server is unreachable, but not
    // beyond the deadline. Fails with kDeadline if none became free in time.
    std::variant<Lease, Fault> Acquire(const Deadline& deadline);

    // Opens a connection outside the pool, for the caller to keep. Tries once.
    std::variant<std::unique_ptr<Connection>, Fault> Connect(const Deadline& deadline) const;

    // Closes the idle connections. Called after a connection was lost, as the idle ones are
    // probably dead, too.
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
    // Most recently used last.
    std::vector<std::unique_ptr<Connection>> idle_ KSANA_GUARDED_BY(mutex_);
    // Connections and pending opens, idle ones included.
    std::size_t taken_ KSANA_GUARDED_BY(mutex_) = 0;
};

}  // namespace ksana::store_postgres

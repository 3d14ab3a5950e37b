#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// Shows the other nodes that this process lives: a session-level advisory lock for its incarnation,
// on the connection of ChangeNotices. The server frees the lock as soon as the process dies, and a
// stopped process keeps it. Lock and question go through different connections.
//
// Owned by PostgresBackend; `clock` must outlive it. Thread-safe: the listener attaches its
// connections, any thread asks. Behind a pooler, which gives no session of one's own, it takes no
// lock and answers nothing.
class NodeSession {
  public:
    // After a restart of the database, and after a new connection of this node, other nodes may
    // not be connected again yet. For this long there are no answers.
    static constexpr Duration kSettle = std::chrono::seconds(3);

    explicit NodeSession(const Clock& clock) : clock_(clock) {}

    // Sets the incarnation to hold. The listener takes the lock within a slice of its waiting.
    void Hold(const std::string& incarnation);

    // Takes the lock on a connection that does not hold it yet; else does nothing. `connection` is
    // the only one that is attached. After a fault the caller must close it.
    std::optional<Fault> Attach(Connection& connection, const Deadline& deadline);
    // Notes that the attached connection is closed.
    void Detach();
    // Whether the server no longer knows the attached connection: it must be closed.
    bool IsStale() const;

    // Asks the server which incarnations have no lock. Nothing: it cannot be told now.
    std::variant<std::optional<std::vector<std::string>>, Fault> Absent(
        Connection& connection, const std::vector<std::string>& incarnations,
        const Deadline& deadline);

  private:
    std::optional<std::string> Wanted() const;
    std::variant<bool, Fault> OwnsSession(Connection& connection, const Deadline& deadline);

    const Clock& clock_;
    mutable Mutex mutex_;
    std::string incarnation_ KSANA_GUARDED_BY(mutex_);           // "": none yet
    std::string held_ KSANA_GUARDED_BY(mutex_);                  // by the attached connection
    std::optional<SteadyPoint> since_ KSANA_GUARDED_BY(mutex_);  // when it took the lock
    bool stale_ KSANA_GUARDED_BY(mutex_) = false;
    bool pooled_ KSANA_GUARDED_BY(mutex_) = false;  // the URL leads to a pooler
};

}  // namespace ksana::store_postgres

#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_postgres/call_batcher.hpp"
#include "ksana/store_postgres/change_notices.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/rows/held_runs.hpp"
#include "ksana/store_postgres/rows/job_columns.hpp"
#include "ksana/store_postgres/rows/known_runs.hpp"
#include "ksana/store_postgres/rows/lock_order.hpp"
#include "ksana/store_postgres/rows/policy_cache.hpp"
#include "ksana/store_postgres/wire/commit_outcome.hpp"
#include "ksana/store_postgres/wire/connection_pool.hpp"
#include "ksana/store_postgres/wire/session.hpp"

namespace ksana::store_postgres {

class PostgresTransaction;

// Runs transactions on a pool of connections, each on its caller's thread. Owned by the store that
// MakeStore returns. A call is retried until its timeout: after a conflict, after a connection that
// was lost before COMMIT was sent, and after one lost later if the server says that the transaction
// did not commit. If the server cannot be asked, the call fails with kUnavailable ("unknown whether
// the change was committed"). Thread-safe.
class PostgresBackend final : public store_kit::Backend {
  public:
    explicit PostgresBackend(const PostgresOptions& options);

    // Connects, brings the schema up to date and starts to listen to other nodes. Call once, before
    // all else.
    Result<void> Start();

    Result<void> Write(const WriteBody& body) override;
    Result<void> Append(const WriteBody& body) override;
    Result<void> Share(store_kit::SharedWrite& write) override;
    Result<void> Read(const ReadBody& body) override;
    store::ChangeFeed& changes() override { return feed_; }
    Result<store::StoreInfo> Info() override;
    void HoldSession(const std::string& incarnation) override;
    Result<std::optional<std::vector<std::string>>> WithoutSession(
        const std::vector<std::string>& incarnations) override;

  private:
    // Outcome of one try of a transaction.
    struct Try {
        Result<void> result;
        std::optional<Fault> fault;           // set if the database caused the failure
        std::optional<CommitTicket> unknown;  // set if COMMIT was sent and its outcome is unknown
        store::Topics touched;
    };

    Result<int> BringUpToDate();
    using OwnBody = std::function<Result<void>(PostgresTransaction&)>;
    // How the next try runs.
    struct Way {
        // Whether to check for existing runs and to read known ones (PostgresTransaction::looks).
        bool look = false;
        LockOrder::Jobs first;  // jobs to lock before all else
    };
    // Runs `body` in a transaction, after storing the policies it needs. Updates `way` for the next
    // try.
    Try WriteOnce(Connection& connection, const OwnBody& body, const Deadline& deadline, Way& way);
    // Runs `body` and commits. Leaves `session` uncommitted when the body needs policies that are
    // not stored yet; they are put into `wanted`.
    Try RunBody(Session& session, const OwnBody& body, Way& way, PolicyCache::Policies& wanted);
    // Runs `body` until it is committed or has failed for good, then tells the feed and the other
    // nodes. The first try uses `first`, if given.
    Try WriteTo(const OwnBody& body, const Deadline& deadline,
                std::optional<ConnectionPool::Lease> first = {});
    // Calls that can share a transaction are gathered into groups. There are two lanes: while the
    // server makes the group of one lane durable, the other lane gathers and sends the next. A
    // third lane would only make the groups smaller.
    using Appends = CallBatcher<const WriteBody>;
    struct AppendLane {
        explicit AppendLane(PostgresBackend& backend);

        // Calls in progress on this lane.
        std::atomic<int> callers = 0;
        // Connection with a transaction begun ahead; used by the current leader only.
        std::optional<ConnectionPool::Lease> on;
        Appends batcher;
    };
    using Shares = CallBatcher<store_kit::SharedWrite>;
    struct ShareLane {
        explicit ShareLane(PostgresBackend& backend);

        // Calls in progress on this lane.
        std::atomic<int> callers = 0;
        Shares batcher;
    };
    template <class Lane>
    Lane& LessBusyOf(std::array<Lane, 2>& lanes) const;
    void PrepareAppend(AppendLane& lane, const Deadline& deadline);
    // Outcome of one transaction for several parts. The results of all other parts are set.
    struct Appended {
        Appends::Parts odd;   // parts with runs that exist already: not done
        Appends::Parts late;  // parts that are not done and have time left
    };
    Appended AppendOnce(AppendLane& lane, const Appends::Parts& parts, const Deadline& deadline);
    // Sets the result of the parts whose deadline has passed and removes them. Returns whether
    // there were any; if so, the transaction begun ahead is rolled back.
    bool DropExpired(AppendLane& lane, Appends::Parts& parts);
    // Returns the parts that are not done and have time left.
    Appends::Parts AppendAll(AppendLane& lane, Appends::Parts parts);
    Shares::Parts ShareAll(Shares::Parts parts);
    Try ReadOnce(Connection& connection, const ReadBody& body, const Deadline& deadline);
    // Runs `once` until it succeeds, fails for good or the deadline passes. The first try uses the
    // connection `first`, if given.
    template <class Once>
    Try RunTries(const Deadline& deadline, std::optional<ConnectionPool::Lease> first,
                 const Once& once);
    // Asks the server whether the transaction committed; kUnknown if there is no answer before the
    // deadline.
    CommitOutcome CommitOutcomeOf(const CommitTicket& mark, const Deadline& deadline);

    PostgresOptions options_;
    Backoff backoff_;
    ServerClock server_clock_;
    ConnectionPool pool_;
    PolicyCache policies_;
    JobCache jobs_;
    LockedRunIds held_;
    KnownRuns known_;
    store::ChangeFeed feed_;
    std::array<AppendLane, 2> append_lanes_;
    std::array<ShareLane, 2> share_lanes_;
    int schema_version_ = 0;
    std::string location_;
    NodeSession session_;
    std::unique_ptr<ChangeNotices> notices_;  // last: its threads use the members above
};

}  // namespace ksana::store_postgres

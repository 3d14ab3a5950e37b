#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_postgres/change_notices.hpp"
#include "ksana/store_postgres/gatherer.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/rows/held_runs.hpp"
#include "ksana/store_postgres/rows/job_columns.hpp"
#include "ksana/store_postgres/rows/known_runs.hpp"
#include "ksana/store_postgres/rows/lock_order.hpp"
#include "ksana/store_postgres/rows/policy_cache.hpp"
#include "ksana/store_postgres/wire/commit_fate.hpp"
#include "ksana/store_postgres/wire/connection_pool.hpp"
#include "ksana/store_postgres/wire/session.hpp"

namespace ksana::store_postgres {

class PostgresTransaction;

// Transactions over a pool of connections. A call is tried again while its time lasts: after a
// conflict, after a connection that was lost before COMMIT was sent, and after one lost later if
// the server says that the transaction did not happen. Thread-safe.
class PostgresBackend final : public store_kit::Backend {
  public:
    explicit PostgresBackend(const PostgresOptions& options);

    // Checks that the server is there, brings the schema up to date and starts to listen.
    Result<void> Start();

    Result<void> Write(const WriteBody& body) override;
    Result<void> Append(const WriteBody& body) override;
    Result<void> Share(store_kit::SharedWrite& write) override;
    Result<void> Read(const ReadBody& body) override;
    store::ChangeFeed& changes() override { return feed_; }
    Result<store::StoreInfo> Info() override;

  private:
    // What one try of a transaction came to.
    struct Try {
        Result<void> result;
        std::optional<Fault> fault;         // what the database had to do with a failure
        std::optional<CommitMark> unknown;  // COMMIT was sent, and nobody knows more
        store::Topics touched;
    };

    Result<int> BringUpToDate();
    using OwnBody = std::function<Result<void>(PostgresTransaction&)>;
    // How a transaction is tried.
    struct Way {
        bool look = false;
        LockOrder::Jobs first;  // jobs that are locked before all else
    };
    // Puts to `way` what the next try is to do otherwise.
    Try WriteOnce(Connection& connection, const OwnBody& body, const Deadline& deadline, Way& way);
    // Leaves `session` uncommitted when the body wanted policies.
    Try RunBody(Session& session, const OwnBody& body, Way& way, PolicyCache::Policies& wanted);
    Try WriteTo(const OwnBody& body, const Deadline& deadline,
                std::optional<ConnectionPool::Lease> first = {});
    // Groups of callers, one after the other. There are two lanes: while the server makes a group
    // of one durable, that of the other is put together and sent. A third would only make the
    // groups smaller.
    using Appends = Gatherer<const WriteBody>;
    struct AppendLane {
        explicit AppendLane(PostgresBackend& backend);

        std::atomic<int> callers = 0;
        std::optional<ConnectionPool::Lease> on;  // has begun; of the gatherer's leader
        Appends gatherer;
    };
    using Shares = Gatherer<store_kit::SharedWrite>;
    struct ShareLane {
        explicit ShareLane(PostgresBackend& backend);

        std::atomic<int> callers = 0;
        Shares gatherer;
    };
    template <class Lane>
    Lane& EmptierOf(std::array<Lane, 2>& lanes) const;
    void PrepareAppend(AppendLane& lane, const Deadline& deadline);
    // What one transaction for several parts came to, whose results are set.
    struct Appended {
        Appends::Parts odd;   // their runs were not all new: not done
        Appends::Parts late;  // there was no time for the others: not done, have time left
    };
    Appended AppendOnce(AppendLane& lane, const Appends::Parts& parts, const Deadline& deadline);
    bool DropExpired(AppendLane& lane, Appends::Parts& parts);
    // Those that are not done and have time left.
    Appends::Parts AppendAll(AppendLane& lane, Appends::Parts parts);
    Shares::Parts ShareAll(Shares::Parts parts);
    Try ReadOnce(Connection& connection, const ReadBody& body, const Deadline& deadline);
    // Runs `once` until it is done, has failed for good or its time is over. The first time on the
    // connection given, if there is one.
    template <class Once>
    Try RunTries(const Deadline& deadline, std::optional<ConnectionPool::Lease> first,
                 const Once& once);
    Fate FateOf(const CommitMark& mark, const Deadline& deadline);

    PostgresOptions options_;
    Backoff backoff_;
    ServerClock server_clock_;
    ConnectionPool pool_;
    PolicyCache policies_;
    JobCache jobs_;
    HeldRuns held_;
    KnownRuns known_;
    store::ChangeFeed feed_;
    std::array<AppendLane, 2> append_lanes_;
    std::array<ShareLane, 2> share_lanes_;
    int schema_version_ = 0;
    std::string location_;
    std::unique_ptr<ChangeNotices> notices_;  // last: its threads use the others
};

}  // namespace ksana::store_postgres

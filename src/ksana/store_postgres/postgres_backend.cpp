#include "ksana/store_postgres/postgres_backend.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/store_postgres/migrations/migrate.hpp"
#include "ksana/store_postgres/migrations/migration_steps.hpp"
#include "ksana/store_postgres/rows/gathered_transaction.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

namespace ksana::store_postgres {
namespace {

// Number of tries after which a conflict is reported instead of retried.
constexpr int kMaxConflicts = 20;
// Rounds of storing policies for one transaction. More would be needed only if other callers keep
// pushing policies out of the cache.
constexpr int kMaxPolicyRounds = 5;
// Maximum number of calls in one append group.
constexpr std::size_t kMostAppends = 128;
// Maximum number of rows in one share group: above it, two connections are faster than one.
constexpr std::size_t kMostShared = 1'000;
// Smallest pool with two lanes: in a smaller one groups would hold all connections.
constexpr std::size_t kPoolOfTwoLanes = 4;
constexpr Duration kMigrationTimeout = std::chrono::hours(1);

constexpr Backoff::Range kFateBackoff{std::chrono::milliseconds(2), std::chrono::milliseconds(50)};
ConnectionOptions ConnectionOf(const PostgresOptions& options) {
    return {.url = options.url,
            .schema = options.schema,
            .prepare = options.prepare,
            .statement_timeout = options.call_timeout};
}

Fault NotSure() {
    return {FaultKind::kDuplicate, Error(Code::kInternal, "runs are to be read after all")};
}

Error UnknownOutcome(const Error& cause) {
    return Error(Code::kUnavailable,
                 fmt::format("it is unknown whether the change was committed: {}", cause.message));
}

}  // namespace

PostgresBackend::PostgresBackend(const PostgresOptions& options)
    : options_(options),
      backoff_(options.clock, options.random),
      server_clock_(options.clock),
      pool_({ConnectionOf(options), options.pool_size, options.connect_timeout}, backoff_),
      append_lanes_{AppendLane(*this), AppendLane(*this)},
      share_lanes_{ShareLane(*this), ShareLane(*this)},
      session_(options.clock) {}

PostgresBackend::ShareLane::ShareLane(PostgresBackend& backend)
    : batcher(backend.options_.clock, kMostShared, {},
              [&backend](const Shares::Parts& parts) { return backend.ShareAll(parts); }) {}

PostgresBackend::AppendLane::AppendLane(PostgresBackend& backend)
    : batcher(
          backend.options_.clock, kMostAppends,
          [this, &backend](const Deadline& deadline) { backend.PrepareAppend(*this, deadline); },
          [this, &backend](const Appends::Parts& parts) {
              return backend.AppendAll(*this, parts);
          }) {}

Result<void> PostgresBackend::Start() {
    const Deadline deadline(options_.clock, options_.call_timeout);
    {
        auto lease = pool_.Acquire(deadline);
        if (auto* fault = std::get_if<Fault>(&lease)) return std::move(fault->error);
        location_ = fmt::format("{} schema {}", std::get<0>(lease)->Location(), options_.schema);
    }
    KSANA_TRY(schema_version_, BringUpToDate());
    if (!options_.listen) return {};
    notices_ =
        std::make_unique<ChangeNotices>(ChangeNotices::Parts{.pool = pool_,
                                                             .backoff = backoff_,
                                                             .clock = options_.clock,
                                                             .feed = feed_,
                                                             .schema = options_.schema,
                                                             .timeout = options_.connect_timeout,
                                                             .session = session_});
    return notices_->Start();
}

// Uses a connection of its own, because a step may take longer than the timeout of a call.
Result<int> PostgresBackend::BringUpToDate() {
    const Deadline deadline(options_.clock, kMigrationTimeout);
    ConnectionOptions connection = ConnectionOf(options_);
    connection.statement_timeout = kMigrationTimeout;
    auto made = Connection::Open(connection, deadline.Sooner(options_.connect_timeout));
    if (auto* fault = std::get_if<Fault>(&made)) return std::move(fault->error);
    return Migrate(
        *std::get<0>(made),
        {.schema = options_.schema, .steps = MigrationSteps(), .apply = options_.migrate},
        deadline);
}

PostgresBackend::Try PostgresBackend::RunBody(Session& session, const OwnBody& body, Way& way,
                                              PolicyCache::Policies& wanted) {
    LockedRunIds::Hold held(held_);
    PostgresTransaction tx(session, {policies_, wanted, jobs_, held, known_, way.first}, way.look);
    Try made;
    made.result = body(tx);
    if (!session.fault() && tx.unsure()) return {NotSure().error, NotSure(), {}, {}};
    if (made.result && !wanted.empty()) made.result = UnknownPolicies();
    // Commit reports a fault that the body has ignored.
    if (made.result) made.result = session.Commit();
    made.touched = tx.touched();
    if (made.result) {
        tx.Remember();
        return made;
    }
    made.fault = session.fault();
    if (made.fault && made.fault->sqlstate == kRowIsLocked) way.first = tx.locks().asked();
    if (session.commit_unknown()) made.unknown = session.mark();
    return made;
}

// Policies are committed before the runs that refer to them, on the same connection: the
// transaction that needs them is rolled back and runs again afterwards.
PostgresBackend::Try PostgresBackend::WriteOnce(Connection& connection, const OwnBody& body,
                                                const Deadline& deadline, Way& way) {
    for (int round = 1;; ++round) {
        PolicyCache::Policies wanted;
        {
            Session session(connection, Session::Mode::kWrite, deadline, &server_clock_);
            Try made = RunBody(session, body, way, wanted);
            if (wanted.empty() || made.fault || round == kMaxPolicyRounds) return made;
        }
        Session session(connection, Session::Mode::kWrite, deadline);
        if (auto stored = policies_.Store(wanted, session); !stored) {
            return {stored.error(), session.fault(), {}, {}};
        }
    }
}

PostgresBackend::Try PostgresBackend::ReadOnce(Connection& connection, const ReadBody& body,
                                               const Deadline& deadline) {
    Session session(connection, Session::Mode::kRead, deadline);
    LockedRunIds::Hold held(held_);
    PolicyCache::Policies none;
    PostgresTransaction tx(session, {policies_, none, jobs_, held, known_, {}});
    Try made;
    made.result = body(tx);
    if (made.result) made.result = session.Commit();
    if (!made.result) made.fault = session.fault();
    return made;
}

template <class Once>
PostgresBackend::Try PostgresBackend::RunTries(const Deadline& deadline,
                                               std::optional<ConnectionPool::Lease> first,
                                               const Once& once) {
    bool look = false;
    for (int tries = 1;; ++tries) {
        Try made;
        if (first) {
            made = once(**first, look);
            first.reset();
        } else {
            auto lease = pool_.Acquire(deadline);
            if (auto* fault = std::get_if<Fault>(&lease)) return {fault->error, *fault, {}, {}};
            const auto held = std::move(std::get<0>(lease));
            made = once(*held, look);
        }
        if (made.result || !made.fault) return made;
        if (made.fault->kind == FaultKind::kLost) pool_.DropIdle();
        if (made.fault->kind == FaultKind::kDuplicate && !look) {
            look = true;
            continue;
        }
        if (made.unknown) {
            const CommitOutcome fate = CommitOutcomeOf(*made.unknown, deadline);
            if (fate == CommitOutcome::kUnknown) made.result = UnknownOutcome(made.fault->error);
            if (fate == CommitOutcome::kCommitted) made.result = {};
            if (fate != CommitOutcome::kAborted) return made;
            made.unknown.reset();
        } else if (made.fault->kind == FaultKind::kConflict) {
            if (tries >= kMaxConflicts) return made;
        } else if (made.fault->kind != FaultKind::kLost) {
            return made;
        }
        if (!backoff_.Wait(tries, kConflictBackoff, deadline) || deadline.Passed()) return made;
    }
}

// Asks on a new connection. A transaction whose connection broke stays in progress until the server
// notices, so the question is repeated until there is an outcome.
CommitOutcome PostgresBackend::CommitOutcomeOf(const CommitTicket& mark, const Deadline& deadline) {
    for (int tries = 1; !deadline.Passed(); ++tries) {
        if (auto made = pool_.Connect(deadline); auto* connection = std::get_if<0>(&made)) {
            if (const auto fate = AskCommitOutcome(**connection, mark, deadline)) return *fate;
        }
        if (!backoff_.Wait(tries, kFateBackoff, deadline)) break;
    }
    return CommitOutcome::kUnknown;
}

PostgresBackend::Try PostgresBackend::WriteTo(const OwnBody& body, const Deadline& deadline,
                                              std::optional<ConnectionPool::Lease> first) {
    Way way;
    Try made = RunTries(deadline, std::move(first), [&](Connection& connection, bool look) {
        way.look = look;
        return WriteOnce(connection, body, deadline, way);
    });
    // Also for an unknown outcome: if it was committed, subscribers wait for it.
    if (made.result || made.unknown) {
        feed_.Publish(made.touched);
        if (notices_) notices_->Announce(made.touched);
    }
    return made;
}

Result<void> PostgresBackend::Write(const WriteBody& body) {
    return WriteTo(body, Deadline(options_.clock, options_.call_timeout)).result;
}

void PostgresBackend::HoldSession(const std::string& incarnation) {
    session_.Hold(incarnation);
    if (notices_) return;
    Log(LogLevel::kWarn, "behind a pooler a server that dies is noticed by its lease only");
}

// One try: the caller asks again in a second, and a question that took longer than the look of
// another node would compare two different moments.
Result<std::optional<std::vector<std::string>>> PostgresBackend::WithoutSession(
    const std::vector<std::string>& incarnations) {
    if (!notices_) return std::optional<std::vector<std::string>>();
    const Deadline deadline(options_.clock, options_.call_timeout);
    auto lease = pool_.Acquire(deadline);
    if (auto* fault = std::get_if<Fault>(&lease)) return std::move(fault->error);
    auto absent = session_.Absent(*std::get<0>(lease), incarnations, deadline);
    if (auto* fault = std::get_if<Fault>(&absent)) {
        if (fault->kind == FaultKind::kLost) pool_.DropIdle();
        return std::move(fault->error);
    }
    return std::get<0>(std::move(absent));
}

Result<void> PostgresBackend::Append(const WriteBody& body) {
    AppendLane& lane = LessBusyOf(append_lanes_);
    ++lane.callers;
    auto done = lane.batcher.Do(body, Deadline(options_.clock, options_.call_timeout));
    --lane.callers;
    return done;
}

Result<void> PostgresBackend::Share(store_kit::SharedWrite& write) {
    ShareLane& lane = LessBusyOf(share_lanes_);
    ++lane.callers;
    auto done =
        lane.batcher.Do(write, Deadline(options_.clock, options_.call_timeout), write.weight());
    --lane.callers;
    return done;
}

// Callers of a group return together, and then choose the lane that they have just left.
template <class Lane>
Lane& PostgresBackend::LessBusyOf(std::array<Lane, 2>& lanes) const {
    if (options_.pool_size < kPoolOfTwoLanes) return lanes.front();
    return lanes[0].callers <= lanes[1].callers ? lanes[0] : lanes[1];
}

// A failure here is ignored: it occurs again in AppendOnce, which reports it.
void PostgresBackend::PrepareAppend(AppendLane& lane, const Deadline& deadline) {
    auto lease = pool_.Acquire(deadline);
    if (std::holds_alternative<Fault>(lease)) return;
    lane.on.emplace(std::move(std::get<0>(lease)));
    Session::BeginAhead(**lane.on);
}

// Parts whose deadline has passed get their error at once; the next leader runs the others.
bool PostgresBackend::DropExpired(AppendLane& lane, Appends::Parts& parts) {
    const auto dropped = std::erase_if(parts, [](Appends::Part* part) {
        if (!part->deadline.Passed()) return false;
        part->result = DeadlineFault("the calls before this one did not end").error;
        return true;
    });
    if (dropped == 0) return false;
    if (const auto unused = std::exchange(lane.on, std::nullopt)) {
        const Deadline none(options_.clock, Duration::zero());
        const Session rolls_back(**unused, Session::Mode::kWrite, none);
    }
    return true;
}

// A body whose runs are not all new runs in a transaction of its own, which finds out why; the
// others start again without it.
PostgresBackend::Appends::Parts PostgresBackend::AppendAll(AppendLane& lane, Appends::Parts parts) {
    while (!parts.empty() && !DropExpired(lane, parts)) {
        const auto earliest = std::ranges::min_element(
            parts, {}, [](const auto* part) { return part->deadline.at(); });
        Appended appended = AppendOnce(lane, parts, (*earliest)->deadline);
        if (appended.odd.empty()) return std::move(appended.late);
        for (auto* part : appended.odd) {
            part->result = WriteTo(part->work, part->deadline).result;
            std::erase(parts, part);
        }
    }
    return parts;
}

PostgresBackend::Appended PostgresBackend::AppendOnce(AppendLane& lane, const Appends::Parts& parts,
                                                      const Deadline& deadline) {
    Appended appended;
    Appends::Parts& odd = appended.odd;
    const Try made = WriteTo(
        [&](PostgresTransaction& whole) -> Result<void> {
            odd.clear();
            const auto now = server_clock_.Estimate();
            NewRunRows rows;
            Appends::Parts owners;  // of each run
            for (auto* part : parts) {
                BatchedTransaction tx(whole, now);
                part->result = part->work(tx);
                if (!part->result) continue;
                rows.Append(tx.noted());
                owners.resize(rows.ids.size(), part);
                whole.Touch(tx.touched());
            }
            if (!whole.looks()) {
                whole.InsertAtCommit(rows);
                return {};
            }
            KSANA_TRY(const auto inserted, whole.InsertRows(rows));
            for (std::size_t i = 0; i < inserted.size(); ++i) {
                if (!inserted[i] && (odd.empty() || odd.back() != owners[i])) {
                    odd.push_back(owners[i]);
                }
            }
            if (!odd.empty()) return Error(Code::kAlreadyExists, "not all runs are new");
            return {};
        },
        deadline, std::exchange(lane.on, std::nullopt));
    if (made.result || !odd.empty()) return appended;
    // The deadline was the earliest one of the group; other parts may have time left.
    const bool repeat = deadline.Passed() && !made.unknown;
    for (auto* part : parts) {
        if (repeat && !part->deadline.Passed()) {
            appended.late.push_back(part);
        } else if (part->result) {
            part->result = made.result;
        }
    }
    return appended;
}

// Runs the group with the earliest deadline of its parts. If that deadline passes, the parts with
// time left are returned, to be run again without the expired ones. If the group fails for another
// reason, which may be due to one part, each part runs alone.
PostgresBackend::Shares::Parts PostgresBackend::ShareAll(Shares::Parts parts) {
    std::erase_if(parts, [](Shares::Part* part) {
        if (!part->deadline.Passed()) return false;
        part->result = DeadlineFault("the calls before this one did not end").error;
        return true;
    });
    if (parts.empty()) return {};
    const auto write = [this](const Shares::Parts& some, const Deadline& deadline) {
        std::vector<store_kit::SharedWrite*> all;
        for (const auto* part : some) all.push_back(&part->work);
        return WriteTo([&](PostgresTransaction& tx) { return all.front()->DoAll(tx, all); },
                       deadline);
    };
    const auto earliest =
        std::ranges::min_element(parts, {}, [](const auto* part) { return part->deadline.at(); });
    const Deadline& deadline = (*earliest)->deadline;
    const Try made = write(parts, deadline);
    if (made.result || made.unknown || parts.size() == 1) {
        for (auto* part : parts) part->result = made.result;
        return {};
    }
    Shares::Parts late;
    for (auto* part : parts) {
        if (!deadline.Passed()) {
            part->result = write({part}, part->deadline).result;
        } else if (part->deadline.Passed()) {
            part->result = made.result;
        } else {
            late.push_back(part);
        }
    }
    return late;
}

Result<void> PostgresBackend::Read(const ReadBody& body) {
    const Deadline deadline(options_.clock, options_.call_timeout);
    return RunTries(deadline, std::nullopt,
                    [&](Connection& connection, bool /*look*/) {
                        return ReadOnce(connection, body, deadline);
                    })
        .result;
}

Result<store::StoreInfo> PostgresBackend::Info() {
    return store::StoreInfo{.driver = "postgres", .location = location_, .schema = schema_version_};
}

}  // namespace ksana::store_postgres

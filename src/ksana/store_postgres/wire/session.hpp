#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/store_postgres/wire/commit_outcome.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "ksana/store_postgres/wire/server_clock.hpp"

namespace ksana::store_postgres {

// One transaction on one connection, in as few round trips as its reads allow: BEGIN goes with the
// first statement, and writes wait for the next read or the commit. The transaction id and the
// server's time are requested along with other statements. One thread at a time. The first fault
// ends the session: every later call returns its error.
class Session {
  public:
    enum class Mode : std::uint8_t { kWrite, kRead };

    // Begins a transaction that is certain to write, for the next Session of mode kWrite on this
    // connection. The transaction id is on its way while the caller prepares the writes, which then
    // go with the COMMIT in one round trip.
    static void BeginAhead(Connection& connection);

    // `connection` and `deadline` must outlive the session. `clock`, if not null, gets every
    // reading of the server's time.
    Session(Connection& connection, Mode mode, const Deadline& deadline,
            ServerClock* clock = nullptr)
        : connection_(connection),
          mode_(mode),
          deadline_(deadline),
          clock_(clock),
          begun_(connection.posted()) {}
    // Rolls back if not committed.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Queues a statement until the next read or the commit. `sql` must live that long (a literal
    // does).
    void Defer(std::string_view sql, Params params);
    void DeferStatement(Statement statement) { deferred_.push_back(std::move(statement)); }
    // As DeferStatement, and keeps the answer in kept().
    void DeferAnswered(Statement statement) {
        answered_.push_back(deferred_.size());
        deferred_.push_back(std::move(statement));
    }
    // As DeferStatement, for a statement that has to change `count` rows. Otherwise the transaction
    // fails with FaultKind::kDuplicate: the statement is sent and answered before the COMMIT.
    void DeferExpecting(Statement statement, std::size_t count) {
        expected_.push_back({deferred_.size(), count});
        deferred_.push_back(std::move(statement));
    }
    // Answers to DeferAnswered that have arrived so far, in the order of their statements.
    const std::vector<Rows>& kept() const { return kept_; }
    // Queues a statement before all other deferred ones, for locks that every transaction takes
    // first.
    void DeferFirst(std::string_view sql, Params params);

    // Sends everything deferred and then this statement; returns its answer.
    Result<Rows> Query(std::string_view sql, Params params);
    Result<Rows> QueryBuilt(std::string sql, Params params);
    // As Query, with several statements in one round trip; returns one answer for each.
    Result<std::vector<Rows>> QueryAll(std::vector<Statement> statements);

    // Returns the server's time, read once in the transaction.
    Result<TimePoint> Now();

    // Sends everything deferred and COMMIT. Returns after the commit is durable; a transaction that
    // has written nothing does not wait.
    Result<void> Commit();
    // Whether COMMIT was sent and the connection broke before the answer: the outcome is unknown.
    bool commit_unknown() const { return commit_unknown_; }

    const std::optional<Fault>& fault() const { return fault_; }
    // Identifies this transaction. `xid` is 0 as long as the server has not assigned one, because
    // nothing was written or locked.
    const CommitTicket& mark() const { return mark_; }
    const Deadline& deadline() const { return deadline_; }

  private:
    Result<std::vector<Rows>> Send(std::vector<Statement> statements, bool commit);
    Result<void> TakeBegin();
    Result<void> Fail(Fault fault);
    void ReadTransactionInfo(const Rows& rows);

    Connection& connection_;
    const Mode mode_;
    const Deadline& deadline_;
    ServerClock* clock_;
    std::vector<Statement> first_;
    std::vector<Statement> deferred_;
    struct Expected {
        std::size_t place;  // index in deferred_
        std::size_t count;
    };
    std::vector<Expected> expected_;
    std::vector<std::size_t> answered_;  // indexes in deferred_
    std::vector<Rows> kept_;
    std::optional<Fault> fault_;
    std::optional<TimePoint> now_;
    CommitTicket mark_;
    bool begun_;
    bool ended_ = false;
    bool commit_unknown_ = false;
};

}  // namespace ksana::store_postgres

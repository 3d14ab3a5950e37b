#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/store_postgres/wire/commit_fate.hpp"
#include "ksana/store_postgres/wire/connection.hpp"
#include "ksana/store_postgres/wire/server_clock.hpp"

namespace ksana::store_postgres {

// One transaction on one connection, in as few round trips as its reads allow: BEGIN goes with the
// first statement, writes wait for the next read or the commit and go with it. The number of the
// transaction and the server's time come along with what is sent anyway. One thread at a time; the
// first fault ends it.
class Session {
  public:
    enum class Mode : std::uint8_t { kWrite, kRead };

    // Begins a transaction that is sure to write something, for the next Session of mode kWrite on
    // this connection to go on with: its number is under way while the writes are put together, and
    // these then go with the COMMIT in one round trip.
    static void BeginAhead(Connection& connection);

    // `clock`, if there is one, is told the server's time.
    Session(Connection& connection, Mode mode, const Deadline& deadline,
            ServerClock* clock = nullptr)
        : connection_(connection),
          mode_(mode),
          deadline_(deadline),
          clock_(clock),
          begun_(connection.posted()) {}
    // Rolls back what was not committed.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Sent with the next read or the commit. `sql` must live as long (a literal does).
    void Defer(std::string_view sql, Params params);
    void DeferStatement(Statement statement) { deferred_.push_back(std::move(statement)); }
    // The same, and its answer is kept.
    void DeferAnswered(Statement statement) {
        answered_.push_back(deferred_.size());
        deferred_.push_back(std::move(statement));
    }
    // The same of a statement that is to change so many rows. If it does not, the transaction fails
    // with FaultKind::kDuplicate: it is sent and answered before the COMMIT.
    void DeferExpecting(Statement statement, std::size_t count) {
        expected_.push_back({deferred_.size(), count});
        deferred_.push_back(std::move(statement));
    }
    // The answers that have come so far, in the order of their statements.
    const std::vector<Rows>& kept() const { return kept_; }
    // Before all other deferred writes: rows whose locks everybody takes before the others'.
    void DeferFirst(std::string_view sql, Params params);

    // Sends everything deferred and then this; the answer to it.
    Result<Rows> Query(std::string_view sql, Params params);
    Result<Rows> QueryBuilt(std::string sql, Params params);
    // The same with several statements: one round trip, one answer for each.
    Result<std::vector<Rows>> QueryAll(std::vector<Statement> statements);

    // The server's clock, read once.
    Result<TimePoint> Now();

    Result<void> Commit();
    // True when COMMIT was sent and no answer came: the outcome is unknown.
    bool commit_unknown() const { return commit_unknown_; }

    const std::optional<Fault>& fault() const { return fault_; }
    // Of this transaction; 0 while the server has given it none, as it has written nothing.
    const CommitMark& mark() const { return mark_; }
    const Deadline& deadline() const { return deadline_; }

  private:
    Result<std::vector<Rows>> Send(std::vector<Statement> statements, bool commit);
    Result<void> TakeBegin();
    Result<void> Fail(Fault fault);
    void TakeNote(const Rows& rows);

    Connection& connection_;
    const Mode mode_;
    const Deadline& deadline_;
    ServerClock* clock_;
    std::vector<Statement> first_;
    std::vector<Statement> deferred_;
    struct Expected {
        std::size_t place;  // among the deferred
        std::size_t count;
    };
    std::vector<Expected> expected_;
    std::vector<std::size_t> answered_;  // among the deferred
    std::vector<Rows> kept_;
    std::optional<Fault> fault_;
    std::optional<TimePoint> now_;
    CommitMark mark_;
    bool begun_;
    bool ended_ = false;
    bool commit_unknown_ = false;
};

}  // namespace ksana::store_postgres

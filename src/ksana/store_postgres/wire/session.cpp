#include "ksana/store_postgres/wire/session.hpp"

#include <iterator>
#include <utility>

namespace ksana::store_postgres {
namespace {

// With a session of our own, plain BEGIN has the modes of kBeginWrite. Naming them would cost the
// server a search through its settings, and another one through all of them at the end.
constexpr std::string_view kBegin = "BEGIN";
constexpr std::string_view kBeginWrite = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
constexpr std::string_view kBeginRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
constexpr std::string_view kCommit = "COMMIT";
// A transaction has an id once it has locked or written a row. Asking for the id earlier would
// assign one to transactions that find nothing to do.
#define KSANA_NOTE(xid) "SELECT clock_timestamp(), " xid ", " KSANA_SERVER_LIFE
constexpr std::string_view kNote = KSANA_NOTE("pg_current_xact_id_if_assigned()");
constexpr std::string_view kNoteOfNew = KSANA_NOTE("pg_current_xact_id()");

std::string_view BeginOf(const Connection& connection, Session::Mode mode) {
    if (mode == Session::Mode::kRead) return kBeginRead;
    return connection.owns_session() ? kBegin : kBeginWrite;
}

void MoveTo(std::vector<Statement>& to, std::vector<Statement>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
}

}  // namespace

void Session::BeginAhead(Connection& connection) {
    std::vector<Statement> statements(2);
    statements[0].sql = BeginOf(connection, Mode::kWrite);
    statements[1].sql = kNoteOfNew;
    connection.Post(statements);
}

Session::~Session() {
    if (connection_.posted()) connection_.TakePosted(deadline_);
    if (begun_ && !ended_) connection_.SendAndForget("ROLLBACK");
}

void Session::Defer(std::string_view sql, Params params) {
    deferred_.push_back({sql, std::move(params), {}});
}

void Session::DeferFirst(std::string_view sql, Params params) {
    first_.push_back({sql, std::move(params), {}});
}

Result<Rows> Session::Query(std::string_view sql, Params params) {
    std::vector<Statement> statements;
    statements.push_back({sql, std::move(params), {}});
    KSANA_TRY(auto answers, QueryAll(std::move(statements)));
    return std::move(answers.front());
}

Result<Rows> Session::QueryBuilt(std::string sql, Params params) {
    std::vector<Statement> statements;
    statements.push_back({{}, std::move(params), std::move(sql)});
    KSANA_TRY(auto answers, QueryAll(std::move(statements)));
    return std::move(answers.front());
}

Result<std::vector<Rows>> Session::QueryAll(std::vector<Statement> statements) {
    return Send(std::move(statements), false);
}

Result<TimePoint> Session::Now() {
    if (connection_.posted()) KSANA_TRY_VOID(TakeBegin());
    if (!now_) {
        if (auto sent = Send({}, false); !sent) return std::move(sent).error();
    }
    return *now_;
}

Result<void> Session::Fail(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
    return fault_->error;
}

void Session::ReadTransactionInfo(const Rows& rows) {
    RowReader reader(rows, 0);
    const TimePoint now = reader.Timestamp();
    if (!now_) now_ = now;
    if (clock_ != nullptr) clock_->Note(now);
    mark_.xid = reader.MaybeInt64().value_or(0);
    mark_.server_life = ReadServerLife(reader);
}

Result<void> Session::TakeBegin() {
    auto answer = connection_.TakePosted(deadline_);
    if (auto* fault = std::get_if<Fault>(&answer)) return Fail(std::move(*fault));
    ReadTransactionInfo(std::get<0>(answer).back());
    return {};
}

// Sends BEGIN, the deferred statements, `statements`, then the note or COMMIT. Returns the answers
// to `statements`.
Result<std::vector<Rows>> Session::Send(std::vector<Statement> statements, bool commit) {
    if (fault_) return fault_->error;
    if (connection_.posted()) KSANA_TRY_VOID(TakeBegin());
    std::vector<Statement> all;
    if (!begun_) all.push_back({BeginOf(connection_, mode_), {}, {}});
    MoveTo(all, first_);
    const std::size_t first_deferred = all.size();
    MoveTo(all, deferred_);
    const std::vector<std::size_t> answered = std::exchange(answered_, {});
    const std::vector<Expected> expected = std::exchange(expected_, {});
    const auto before = static_cast<std::ptrdiff_t>(all.size());
    const auto count = static_cast<std::ptrdiff_t>(statements.size());
    MoveTo(all, statements);
    const bool noted = !commit && (mode_ == Mode::kWrite ? !now_ || mark_.xid == 0 : count == 0);
    if (noted) all.push_back({kNote, {}, {}});
    if (commit) all.push_back({kCommit, {}, {}});
    begun_ = true;
    auto answer = connection_.RoundTrip(all, deadline_);
    if (auto* fault = std::get_if<Fault>(&answer)) {
        commit_unknown_ = commit && connection_.broken();
        return Fail(std::move(*fault)).error();
    }
    auto& rows = std::get<0>(answer);
    for (const auto& [place, wanted] : expected) {
        if (rows[first_deferred + place].AffectedRows() == wanted) continue;
        return Fail({FaultKind::kDuplicate,
                     Error(Code::kInternal, "PostgreSQL: a row is not as it was written")})
            .error();
    }
    for (const std::size_t place : answered) {
        kept_.push_back(std::move(rows[first_deferred + place]));
    }
    if (noted) ReadTransactionInfo(rows.back());
    if (commit && rows.back().CommandTag() != "COMMIT") {
        return Fail({FaultKind::kConflict,
                     Error(Code::kConflict, "PostgreSQL: the transaction was rolled back")})
            .error();
    }
    return std::vector<Rows>(std::make_move_iterator(rows.begin() + before),
                             std::make_move_iterator(rows.begin() + before + count));
}

Result<void> Session::Commit() {
    if (fault_) return fault_->error;
    if (connection_.posted()) KSANA_TRY_VOID(TakeBegin());
    const bool writes = !first_.empty() || !deferred_.empty();
    if (!begun_ && !writes) return {};
    if (mode_ == Mode::kRead) {
        connection_.SendAndForget(kCommit);
        ended_ = true;
        return {};
    }
    // Without the transaction id the outcome could not be asked for if the connection broke.
    if (writes && (mark_.xid == 0 || !expected_.empty())) {
        if (auto sent = Send({}, false); !sent) return std::move(sent).error();
    }
    if (mark_.xid == 0) {  // nothing was locked or written
        connection_.SendAndForget(kCommit);
        ended_ = true;
        return {};
    }
    auto sent = Send({}, true);
    if (!sent) return std::move(sent).error();
    ended_ = true;
    return {};
}

}  // namespace ksana::store_postgres

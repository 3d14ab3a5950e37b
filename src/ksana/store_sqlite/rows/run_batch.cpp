#include "ksana/store_sqlite/rows/run_batch.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include "ksana/store_sqlite/rows/packed_run.hpp"

namespace ksana::store_sqlite {
namespace {

using model::Run;

// Keeps a row of runs well below the thousand bytes above which SQLite would spread it over
// overflow pages.
constexpr std::size_t kMaxInlinePayload = 512;
// Buffers with more capacity are released after use.
constexpr std::size_t kMaxKept = 64 * 1024;

constexpr const char* kDeclaration =
    "CREATE TABLE run_batch(seq, id, type, job_id, nominal_at, kind, fixed, place, ready_at, "
    "final_key, final_at, gate, status)";

// In the order of kDeclaration.
enum Column : std::uint8_t {
    kSeq,
    kId,
    kType,
    kJobId,
    kNominalAt,
    kKind,
    kFixed,
    kPlace,
    kReadyAt,
    kFinalKey,
    kFinalAt,
    kGate,
    kStatus,
};

// Encodes what LockOverlapCounts and similar queries need: 1 for a run that has had an attempt,
// plus 2 for a blocked one, plus four times the state. The SQL in statements.cpp uses these
// numbers, too.
std::int64_t GateOf(const model::RunStatus& status) {
    return 4 * static_cast<std::int64_t>(status.state) + (status.blocked ? 2 : 0) +
           (status.attempt > 0 ? 1 : 0);
}

// Sets the value of a column of the virtual table. Values are not copied, as the batch does not
// change while a statement runs. A column that is not set is NULL.
class Answer {
  public:
    explicit Answer(sqlite3_context* context) : context_(context) {}

    void Text(std::string_view text) const {
        sqlite3_result_text64(context_, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                              SQLITE_UTF8);
    }
    void TextUnlessEmpty(std::string_view text) const {
        if (!text.empty()) Text(text);
    }
    void Bytes(const void* bytes, std::size_t size) const {
        sqlite3_result_blob64(context_, size == 0 ? "" : bytes, size, SQLITE_STATIC);
    }
    void Bytes(const std::string& bytes) const { Bytes(bytes.data(), bytes.size()); }
    void Id(const Uuid& id) const { Bytes(id.bytes.data(), id.bytes.size()); }
    void Int(std::int64_t value) const { sqlite3_result_int64(context_, value); }
    void Time(TimePoint time) const { Int(time.time_since_epoch().count()); }

  private:
    sqlite3_context* context_;
};

// Answers the value of a column.
void Give(const RunBatch::Row& row, int column, const Answer& answer) {
    const Run& run = *row.run;
    switch (column) {
        case kSeq:
            return answer.Int(row.seq);
        case kId:
            return answer.Id(run.id);
        case kType:
            return answer.TextUnlessEmpty(run.type);
        case kJobId:
            return answer.TextUnlessEmpty(run.job_id);
        case kNominalAt:
            if (run.nominal_at) answer.Time(*run.nominal_at);
            return;
        case kKind:
            return answer.Int(static_cast<std::int64_t>(run.kind));
        case kFixed:
            return answer.Bytes(row.fixed);
        case kPlace:
            return answer.Text(row.place);
        case kReadyAt:
            return answer.Time(run.status.ready_at);
        case kFinalKey:
            return answer.TextUnlessEmpty(row.final_key);
        case kFinalAt:
            if (HasFinalAt(run)) answer.Time(*run.status.finished_at);
            return;
        case kGate:
            if (!run.job_id.empty()) answer.Int(GateOf(run.status));
            return;
        default:
            return answer.Bytes(row.status);
    }
}

struct Table : sqlite3_vtab {
    explicit Table(const RunBatch& from) : sqlite3_vtab{}, batch(from) {}
    const RunBatch& batch;
};

struct Cursor : sqlite3_vtab_cursor {
    Cursor() : sqlite3_vtab_cursor{} {}
    std::size_t index = 0;
    const RunBatch::Row* row = nullptr;

    void MoveTo(std::size_t place) {
        index = place;
        row = static_cast<const Table*>(pVtab)->batch.At(index);
    }
};

Cursor& Of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

int Connect(sqlite3* database, void* batch, int /*count*/, const char* const* /*words*/,
            sqlite3_vtab** out, char** /*error*/) {
    const int rc = sqlite3_declare_vtab(database, kDeclaration);
    if (rc != SQLITE_OK) return rc;
    *out = std::make_unique<Table>(*static_cast<RunBatch*>(batch)).release();
    return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
    const std::unique_ptr<Table> owned(static_cast<Table*>(table));
    return SQLITE_OK;
}

int BestIndex(sqlite3_vtab* /*table*/, sqlite3_index_info* /*info*/) { return SQLITE_OK; }

int Open(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** out) {
    *out = std::make_unique<Cursor>().release();
    return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
    const std::unique_ptr<Cursor> owned(&Of(cursor));
    return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* cursor, int /*index*/, const char* /*name*/, int /*count*/,
           sqlite3_value** /*values*/) {
    Of(cursor).MoveTo(0);
    return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* cursor) {
    Of(cursor).MoveTo(Of(cursor).index + 1);
    return SQLITE_OK;
}

int AtEnd(sqlite3_vtab_cursor* cursor) { return Of(cursor).row == nullptr ? 1 : 0; }

int GiveColumn(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
    Give(*Of(cursor).row, column, Answer(context));
    return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>(Of(cursor).index);
    return SQLITE_OK;
}

sqlite3_module MakeModule() {
    sqlite3_module module{};  // no xCreate: the table exists without CREATE VIRTUAL TABLE
    module.xConnect = Connect;
    module.xDisconnect = Disconnect;
    module.xBestIndex = BestIndex;
    module.xOpen = Open;
    module.xClose = Close;
    module.xFilter = Filter;
    module.xNext = Next;
    module.xEof = AtEnd;
    module.xColumn = GiveColumn;
    module.xRowid = RowId;
    return module;
}

// Pads the row to a multiple of kRowStep, a size that most runs keep until they end: SQLite
// overwrites a row of unchanged length in place, while a longer one may split the page.
void Pad(RunBatch::Row& row) {
    constexpr std::size_t kRowStep = 64;
    constexpr std::size_t kLeast = 128;
    const std::size_t time = HasFinalAt(*row.run) ? sizeof(std::int64_t) : 0;
    const std::size_t others = row.place.size() + row.final_key.size() + time;
    const std::size_t whole =
        std::max(kLeast, (others + row.status.size() + kRowStep - 1) / kRowStep * kRowStep);
    row.status.resize(whole - others, '\0');
}

}  // namespace

void CountOpenRun(std::int64_t gate, store_kit::OverlapCounts& counts) {
    counts.under_way += (gate & 1) != 0 ? 1 : 0;
    counts.blocked += (gate & 2) != 0 ? 1 : 0;
    counts.waiting += gate < 8 && (gate & 3) == 0 ? 1 : 0;
}

bool HasFinalAt(const Run& run) {
    return !run.job_id.empty() && model::IsFinal(run.status.state) && run.status.finished_at;
}

bool HasLongPayload(const Run& run) { return run.payload.size() > kMaxInlinePayload; }

int RunBatch::Register(sqlite3* database) {
    static const sqlite3_module kModule = MakeModule();
    return sqlite3_create_module(database, "run_batch", &kModule, this);
}

void RunBatch::FillSeqs(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs) {
    for (std::size_t i = 0; i < count_; ++i) {
        if (rows_[i].status.capacity() > kMaxKept) rows_[i].status = {};
    }
    if (rows_.size() < runs.size()) rows_.resize(runs.size());
    count_ = runs.size();
    for (std::size_t i = 0; i < count_; ++i) {
        rows_[i].run = runs[i];
        rows_[i].seq = seqs[i];
    }
}

void RunBatch::FillStatus(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs) {
    FillSeqs(runs, seqs);
    for (std::size_t i = 0; i < count_; ++i) {
        Row& row = rows_[i];
        const Run& run = *row.run;
        PutPlace(run, row.place);
        PackStatus(run, row.status);
        row.final_key.clear();
        if (HasFinalKey(run.status.state)) row.final_key = FinalKey(run.status.state, run.id);
        Pad(row);
    }
}

void RunBatch::Fill(const store_kit::RunRefs& runs, const std::vector<std::int64_t>& seqs,
                    const std::vector<std::int64_t>& policies) {
    FillStatus(runs, seqs);
    for (std::size_t i = 0; i < count_; ++i) {
        PackFixed(*runs[i], policies[i], HasLongPayload(*runs[i]), rows_[i].fixed);
    }
}

}  // namespace ksana::store_sqlite

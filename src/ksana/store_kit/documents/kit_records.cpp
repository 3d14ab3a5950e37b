#include "ksana/store_kit/documents/kit_records.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ksana/model/run/decide.hpp"
#include "ksana/store_kit/documents/kit_nodes.hpp"
#include "ksana/store_kit/documents/record_checks.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/jobs/job_edges.hpp"
#include "ksana/store_kit/lists/lists.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {
namespace {

using model::Record;

// The parts of an export, in order. A cursor names a part and the place in it.
constexpr std::string_view kRecordOrder = "records";
constexpr std::array<std::string_view, 5> kParts = {"documents", "jobs", "runs", "ledger",
                                                    "events"};

// Appends the records of one part after `place` to `out` and moves `place` to the last of them.
// Lives for one read.
class PartReader {
  public:
    PartReader(Reader& rows, std::size_t limit, std::vector<Record>& out)
        : rows_(rows), limit_(limit), out_(out) {}

    // Returns how many rows it found; fewer than the limit means that the part is complete.
    Result<std::size_t> Read(std::string_view part, std::string& place) {
        if (part == "documents") return Documents(place);
        if (part == "jobs") return Jobs(place);
        if (part == "runs") return Runs(place);
        if (part == "ledger") return Ledger(place);
        return Events(place);
    }

  private:
    Result<std::size_t> Documents(std::string& place) {
        DocumentList list{.limit = limit_};
        if (!place.empty()) {
            KSANA_TRY(const auto position, store::ParseCursor("document", place));
            list.after_kind = position->value;
            list.after_key = position->id;
        }
        KSANA_TRY(std::vector<model::Document> rows, rows_.ListDocuments(list));
        if (!rows.empty()) {
            place = store::MakeCursor("document", {rows.back().kind, rows.back().key});
        }
        const std::size_t count = rows.size();
        std::erase_if(rows, [](const model::Document& row) { return row.kind == kNodeKind; });
        Take(std::move(rows));
        return count;
    }

    Result<std::size_t> Jobs(std::string& place) {
        JobList list{.limit = limit_};
        if (!place.empty()) list.after = JobList::After{.id = place};
        KSANA_TRY(ListedJobs jobs, rows_.ListJobs(list));
        if (!jobs.rows.empty()) place = jobs.rows.back().id;
        return Take(std::move(jobs.rows));
    }

    // Appends the page's runs, then their earlier attempts.
    Result<std::size_t> Runs(std::string& place) {
        RunList list{.descending = false, .limit = limit_};
        if (!place.empty()) {
            list.after = RunList::After{.id = Uuid::Parse(place).value_or(Uuid{})};
        }
        KSANA_TRY(ListedRuns listed, rows_.ListRuns(list));
        std::vector<model::Run>& rows = listed.rows;
        if (rows.empty()) return 0;
        place = rows.back().id.ToString();
        std::vector<Uuid> ids;
        for (const model::Run& run : rows) ids.push_back(run.id);
        KSANA_TRY(std::vector<model::Attempt> attempts, rows_.Attempts(ids));
        const std::size_t count = Take(std::move(rows));
        Take(std::move(attempts));
        return count;
    }

    Result<std::size_t> Ledger(std::string& place) {
        KSANA_TRY(const std::int64_t after, ParseSeq("seq", place));
        KSANA_TRY(std::vector<model::LedgerEntry> rows,
                  rows_.ListLedger({.after = after, .limit = limit_}));
        if (!rows.empty()) place = SeqCursor("seq", rows.back().seq);
        return Take(std::move(rows));
    }

    Result<std::size_t> Events(std::string& place) {
        KSANA_TRY(const std::int64_t after, ParseSeq("seq", place));
        EventList list{.descending = false, .limit = limit_};
        if (!place.empty()) list.after = after;
        KSANA_TRY(std::vector<model::AuditEvent> rows, rows_.ListEvents(list));
        if (!rows.empty()) place = SeqCursor("seq", rows.back().seq);
        return Take(std::move(rows));
    }

    template <class T>
    std::size_t Take(std::vector<T> rows) {
        for (T& row : rows) out_.emplace_back(std::move(row));
        return rows.size();
    }

    Reader& rows_;
    std::size_t limit_;
    std::vector<Record>& out_;
};

// A bad file is usually bad in every line, and more problems than this help no reader.
constexpr std::size_t kMaxProblems = 20;

// The records of a batch by type.
struct Batch {
    std::vector<model::Job> jobs;
    std::vector<model::Run> runs;
    std::vector<model::Attempt> attempts;
    std::vector<model::LedgerEntry> ledger;
    std::vector<model::AuditEvent> events;
    std::vector<model::Document> documents;

    void operator()(const model::Job& job) { jobs.push_back(job); }
    void operator()(const model::Run& run) { runs.push_back(run); }
    void operator()(const model::Attempt& attempt) { attempts.push_back(attempt); }
    void operator()(const model::LedgerEntry& entry) { ledger.push_back(entry); }
    void operator()(const model::AuditEvent& event) { events.push_back(event); }
    void operator()(const model::Document& document) { documents.push_back(document); }
};

Error AlreadyThere(std::string_view what, const std::string& id) {
    return {Code::kAlreadyExists, fmt::format("{} {} is there already", what, id)};
}

Result<void> AddJobs(Transaction& tx, const std::vector<model::Job>& jobs) {
    if (jobs.empty()) return {};
    KSANA_TRY(const std::vector<bool> inserted, tx.InsertJobs(jobs));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!inserted[i]) return AlreadyThere("job", jobs[i].id);
    }
    return CountDependants(tx, jobs);
}

Result<void> AddRuns(Transaction& tx, const std::vector<model::Run>& runs) {
    if (runs.empty()) return {};
    KSANA_TRY(const std::vector<bool> inserted, tx.InsertRuns(RefsTo(runs)));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!inserted[i]) return AlreadyThere("run", runs[i].id.ToString());
    }
    KSANA_TRY(const TimePoint now, tx.Now());
    for (const model::Run& run : runs) {
        if (!model::HoldsKey(run, now)) continue;
        KSANA_TRY(const auto holders, tx.TakeKeys({ClaimOf(run)}, now));
        if (holders[0]) return AlreadyThere("unique key", run.unique.key);
    }
    return {};
}

Result<void> AddDocuments(Transaction& tx, const std::vector<model::Document>& documents) {
    for (const model::Document& document : documents) {
        KSANA_TRY(const auto there, tx.LockDocument(document.kind, document.key));
        if (there) return AlreadyThere(document.kind, document.key);
        KSANA_TRY_VOID(tx.PutDocument(document));
    }
    return {};
}

// Rows with a seq come in order, so none of the range from first to last may exist yet.
template <class T>
std::pair<std::int64_t, std::int64_t> RangeOf(const std::vector<T>& rows) {
    const auto [first, last] = std::ranges::minmax(rows, {}, &T::seq);
    return {first.seq, last.seq};
}

Result<void> AddLedger(Transaction& tx, const std::vector<model::LedgerEntry>& entries) {
    if (entries.empty()) return {};
    const auto [first, last] = RangeOf(entries);
    KSANA_TRY(const auto there, tx.ListLedger({.after = first - 1, .limit = 1}));
    if (!there.empty() && there[0].seq <= last) {
        return AlreadyThere("ledger entry", std::to_string(there[0].seq));
    }
    return tx.InsertLedger(entries);
}

Result<void> AddEvents(Transaction& tx, const std::vector<model::AuditEvent>& events) {
    if (events.empty()) return {};
    const auto [first, last] = RangeOf(events);
    KSANA_TRY(const auto there,
              tx.ListEvents({.descending = false, .after = first - 1, .limit = 1}));
    if (!there.empty() && there[0].seq <= last) {
        return AlreadyThere("event", std::to_string(there[0].seq));
    }
    return tx.InsertEvents(events);
}

}  // namespace

Result<store::Page<Record>> KitRecords::Read(const std::string& cursor, std::size_t limit) {
    KSANA_TRY(limit, CheckLimit(limit));
    KSANA_TRY(const auto position, store::ParseCursor(kRecordOrder, cursor));
    const std::string_view part = position ? std::string_view(position->value) : kParts[0];
    const auto* const found = std::find(kParts.begin(), kParts.end(), part);
    if (found == kParts.end()) {
        return Error(std::vector<Problem>{{"/cursor", "is not a cursor of this list"}});
    }
    store::Page<Record> page;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        page = {};
        PartReader reader(rows, limit, page.items);
        std::string place = position ? position->id : "";
        for (const auto* current = found; current != kParts.end(); ++current) {
            KSANA_TRY(const std::size_t count, reader.Read(*current, place));
            if (count == limit) {
                page.next = store::MakeCursor(kRecordOrder, {std::string(*current), place});
                return {};
            }
            place.clear();
            // A part ends a page, so that a page is never the sum of five parts.
            if (count > 0 && std::next(current) != kParts.end()) {
                page.next = store::MakeCursor(kRecordOrder, {std::string(*std::next(current)), ""});
                return {};
            }
        }
        return {};
    }));
    return page;
}

Result<void> KitRecords::Add(const std::vector<Record>& records) {
    KSANA_TRY_VOID(CheckBatch(records.size(), "/records"));
    std::vector<Problem> problems;
    Batch batch;
    for (std::size_t i = 0; i < records.size() && problems.size() < kMaxProblems; ++i) {
        CheckRecord(records[i], Path("/records", i), problems);
        std::visit(batch, records[i]);
    }
    KSANA_TRY_VOID(Verdict(std::move(problems)));
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY_VOID(AddDocuments(tx, batch.documents));
        KSANA_TRY_VOID(AddJobs(tx, batch.jobs));
        KSANA_TRY_VOID(AddRuns(tx, batch.runs));
        if (!batch.attempts.empty()) KSANA_TRY_VOID(tx.InsertAttempts(batch.attempts));
        KSANA_TRY_VOID(AddLedger(tx, batch.ledger));
        KSANA_TRY_VOID(AddEvents(tx, batch.events));
        tx.Touch(store::Topics::All());
        return {};
    });
}

Result<store::RecordCounts> KitRecords::Counts() {
    store::RecordCounts counts;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(counts, rows.Counts());
        return {};
    }));
    return counts;
}

}  // namespace ksana::store_kit

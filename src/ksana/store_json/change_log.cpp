#include "ksana/store_json/change_log.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ksana/base/text/crc32c.hpp"
#include "ksana/codec/records/log_line.hpp"
#include "ksana/codec/records/record_codec.hpp"

namespace ksana::store_json {
namespace {

using namespace store_memory;
using codec::Drop;
using model::Record;

// The checksum of a transaction, from that of its lines.
std::uint32_t SumOf(std::uint32_t lines, std::int64_t seq) {
    return Crc32c(std::to_string(seq), lines);
}

// Writes rows as lines, each row once, however often it changed.
class LineWriter {
  public:
    explicit LineWriter(const Tables& tables) : tables_(tables) {}

    void Write(const JobKey& key) {
        if (!Fresh("job", key.id)) return;
        const model::Job* job = tables_.FindJob(key.id);
        if (job != nullptr) {
            Add(*job);
        } else {
            Add(Drop{"job", key.id, ""});
        }
    }
    void Write(const RunKey& key) {
        const std::string id = key.id.ToString();
        if (!Fresh("run", id)) return;
        const model::Run* run = tables_.FindRun(key.id);
        if (run != nullptr) {
            Add(*run);
        } else {
            Add(Drop{"run", id, ""});
        }
    }
    void Write(const AttemptsKey& key) {
        const std::string id = key.run_id.ToString();
        if (!Fresh("attempts", id)) return;
        Add(Drop{"attempts", id, ""});
        for (const model::Attempt& attempt : tables_.AttemptsOf(key.run_id)) Add(attempt);
    }
    // Unique keys follow from the runs (RestoreKeys).
    void Write(const UniqueKey&) {}
    void Write(const LedgerKey& key) {
        if (!Fresh("ledger", std::to_string(key.seq))) return;
        const auto entry = tables_.ledger().find(key.seq);
        if (entry != tables_.ledger().end()) Add(entry->second);
    }
    void Write(const EventKey& key) {
        const std::string seq = std::to_string(key.seq);
        if (!Fresh("event", seq)) return;
        const auto event = tables_.events().find(key.seq);
        if (event != tables_.events().end()) {
            Add(event->second);
        } else {
            Add(Drop{"event", seq, ""});
        }
    }
    void Write(const DocumentKey& key) {
        if (!Fresh("document " + key.kind, key.key)) return;
        const model::Document* document = tables_.FindDocument(key.kind, key.key);
        if (document != nullptr) {
            Add(*document);
        } else {
            Add(Drop{"document", key.kind, key.key});
        }
    }

    std::string Finish(std::int64_t seq) {
        text_ += codec::CommitToLine({.seq = seq, .sum = SumOf(Crc32c(text_), seq)});
        text_ += '\n';
        return std::move(text_);
    }

  private:
    bool Fresh(const std::string& table, const std::string& id) {
        return written_.emplace(table, id).second;
    }
    void Add(const Record& record) {
        text_ += codec::RecordToLine(record);
        text_ += '\n';
    }
    void Add(const Drop& drop) {
        text_ += codec::DropToLine(drop);
        text_ += '\n';
    }

    const Tables& tables_;
    std::set<std::pair<std::string, std::string>> written_;
    std::string text_;
};

// Puts the rows of log lines into the tables, and jobs into `replayed`.
class LineReader {
  public:
    LineReader(Tables& tables, Replayed& replayed) : tables_(tables), replayed_(replayed) {}

    void operator()(Record&& record) { std::visit(*this, std::move(record)); }
    void operator()(model::Job&& job) {
        replayed_.dropped.erase(job.id);
        model::Job& place = replayed_.jobs[job.id];
        place = std::move(job);
    }
    void operator()(model::Run&& run) {
        const RunKey key{run.id};
        tables_.Set(key, std::move(run));
    }
    void operator()(model::Attempt&& attempt) {
        const AttemptsKey key{attempt.run_id};
        std::vector<model::Attempt> rows = tables_.AttemptsOf(key.run_id);
        rows.push_back(std::move(attempt));
        tables_.Set(key, std::move(rows));
    }
    void operator()(model::LedgerEntry&& entry) {
        const LedgerKey key{entry.seq};
        tables_.Set(key, std::move(entry));
    }
    void operator()(model::AuditEvent&& event) {
        const EventKey key{event.seq};
        tables_.Set(key, std::move(event));
    }
    void operator()(model::Document&& document) {
        const DocumentKey key{document.kind, document.key};
        tables_.Set(key, std::move(document));
    }
    void operator()(Drop&& drop) {
        if (drop.table == "job") {
            if (auto job = replayed_.jobs.extract(drop.id); !job.empty()) {
                replayed_.dropped.insert_or_assign(drop.id, std::move(job.mapped()));
            }
        } else if (drop.table == "document") {
            tables_.Set(DocumentKey{drop.id, drop.key}, std::nullopt);
        } else if (drop.table == "event") {
            tables_.Set(EventKey{std::strtoll(drop.id.c_str(), nullptr, 10)}, std::nullopt);
        } else if (const auto id = Uuid::Parse(drop.id); id && drop.table == "run") {
            tables_.Set(RunKey{*id}, std::nullopt);
        } else if (id) {
            tables_.Set(AttemptsKey{*id}, std::nullopt);
        }
    }
    void operator()(codec::CommitMark) {}

  private:
    Tables& tables_;
    Replayed& replayed_;
};

// If two runs claim one key, the later one holds it: the earlier one had lost it when its `until`
// passed.
void RestoreKeys(Tables& tables) {
    std::vector<const model::Run*> holders;
    for (const auto& [id, run] : tables.runs()) {
        const bool holds =
            !run.unique.key.empty() && (run.unique.states & model::SetOf(run.status.state)) != 0;
        if (holds) holders.push_back(&run);
    }
    std::stable_sort(holders.begin(), holders.end(),
                     [](const auto* a, const auto* b) { return a->created_at < b->created_at; });
    for (const model::Run* run : holders) {
        tables.Set(UniqueKey{run->tenant, run->unique.key}, KeyRow{run->id, run->unique.until});
    }
}

// Calls `visit` with every line that ends with a newline.
template <class Visit>
void ForEachLine(std::string_view text, const Visit& visit) {
    std::size_t at = 0;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos;
         end = text.find('\n', at)) {
        visit(text.substr(at, end - at));
        at = end + 1;
    }
}

// Returns the log up to and including its last commit mark, and that mark. Without a mark nothing
// counts.
std::string_view UpToLastMark(std::string_view log, codec::CommitMark& last) {
    for (std::size_t end = log.rfind('\n'); end != std::string_view::npos;) {
        const std::size_t before = end == 0 ? std::string_view::npos : log.rfind('\n', end - 1);
        const auto line = codec::LogLineFromText(log.substr(before + 1, end - before - 1));
        if (const auto* mark = line ? std::get_if<codec::CommitMark>(&*line) : nullptr) {
            last = *mark;
            return log.substr(0, end + 1);
        }
        end = before;
    }
    return {};
}

// Returns the number of the first transaction that differs from its checksum; 0: there is none.
std::int64_t FirstDamaged(std::string_view log) {
    std::int64_t before = 0;
    std::int64_t damaged = 0;
    std::uint32_t sum = 0;
    ForEachLine(log, [&](std::string_view line) {
        if (damaged != 0) return;
        if (!codec::IsCommitLine(line)) {
            sum = Crc32c("\n", Crc32c(line, sum));
            return;
        }
        const auto parsed = codec::LogLineFromText(line);
        const auto* mark = parsed ? std::get_if<codec::CommitMark>(&*parsed) : nullptr;
        const bool whole = mark != nullptr && (!mark->sum || *mark->sum == SumOf(sum, mark->seq));
        if (!whole) damaged = before + 1;
        if (mark != nullptr) before = mark->seq;
        sum = 0;
    });
    return damaged;
}

// An append that was cut short leaves a part of what was to be written: all its whole lines can be
// read. Returns whether one behind the last mark cannot.
bool IsDamagedEnd(std::string_view tail) {
    bool damaged = false;
    ForEachLine(tail,
                [&](std::string_view line) { damaged = damaged || !codec::LogLineFromText(line); });
    return damaged;
}

// Most lines of a log describe rows that were written again later. Reading only the last line of
// each row is several times faster, and the start of the server waits for it.
enum class Lines { kAll, kLastOfRow };

// Returns the lines to read, in order, and counts all lines.
std::vector<std::string_view> LinesToRead(std::string_view log, Lines which, std::int64_t& count) {
    std::vector<std::string_view> lines;
    std::unordered_map<std::string_view, std::size_t> last_of_row;
    ForEachLine(log, [&](std::string_view line) {
        ++count;
        const auto row = which == Lines::kAll ? std::string_view() : codec::RowOfLine(line);
        if (!row.empty()) {
            const auto [last, first] = last_of_row.try_emplace(row, lines.size());
            if (!first) lines[std::exchange(last->second, lines.size())] = {};
        }
        lines.push_back(line);
    });
    std::erase(lines, std::string_view());
    return lines;
}

Replayed ReplayLines(std::string_view log, Lines which, Tables& tables) {
    Replayed replayed;
    codec::CommitMark last;
    const std::string_view counts = UpToLastMark(log, last);
    replayed.size = static_cast<std::int64_t>(counts.size());
    replayed.last_seq = last.seq;
    replayed.damaged = FirstDamaged(counts);
    if (replayed.damaged == 0 && IsDamagedEnd(log.substr(counts.size()))) {
        replayed.damaged = last.seq + 1;
    }
    LineReader reader(tables, replayed);
    for (const std::string_view line : LinesToRead(counts, which, replayed.lines)) {
        if (auto read = codec::LogLineFromText(line)) {
            std::visit(reader, *std::move(read));
        } else {
            ++replayed.bad_lines;
        }
        constexpr std::size_t kNoted = 1'000;  // the journal is not needed here and takes memory
        if (tables.journal_size() > kNoted) (void)tables.TakeJournal();
    }
    return replayed;
}

}  // namespace

std::string LogOf(const Tables& tables, const Tables::Journal& journal, std::int64_t seq) {
    LineWriter writer(tables);
    for (const auto& before : journal) {
        std::visit([&](const auto& change) { writer.Write(change.first); }, before);
    }
    return writer.Finish(seq);
}

std::string LogOfAll(const Tables& tables, std::int64_t seq) {
    LineWriter writer(tables);
    for (const model::Job& job : tables.jobs()) writer.Write(JobKey{job.id});
    for (const auto& [id, run] : tables.runs()) {
        writer.Write(RunKey{id});
        if (!tables.AttemptsOf(id).empty()) writer.Write(AttemptsKey{id});
    }
    for (const auto& [entry_seq, entry] : tables.ledger()) writer.Write(LedgerKey{entry_seq});
    for (const auto& [event_seq, event] : tables.events()) writer.Write(EventKey{event_seq});
    // Also if that event is deleted: its number must not be given again, because readers of the
    // event list continue after it.
    if (tables.last_event_seq() > 0) writer.Write(EventKey{tables.last_event_seq()});
    for (const auto& [key, document] : tables.documents()) writer.Write(key);
    return writer.Finish(seq);
}

std::int64_t RowsOf(const Tables& tables) {
    return static_cast<std::int64_t>(tables.jobs().size() + tables.runs().size() +
                                     tables.attempt_count() + tables.ledger().size() +
                                     tables.events().size() + tables.documents().size());
}

Replayed Replay(std::string_view log, Tables& tables) {
    Replayed replayed = ReplayLines(log, Lines::kLastOfRow, tables);
    if (replayed.bad_lines > 0) {
        // The last line of a row may be among the bad ones; then the line before it counts.
        tables = {};
        replayed = ReplayLines(log, Lines::kAll, tables);
    }
    RestoreKeys(tables);
    (void)tables.TakeJournal();
    return replayed;
}

}  // namespace ksana::store_json

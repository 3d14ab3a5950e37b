#include "ksana/store_json/change_log.hpp"

#include <algorithm>
#include <set>
#include <variant>
#include <vector>

#include "ksana/codec/log_line.hpp"
#include "ksana/codec/record_codec.hpp"

namespace ksana::store_json {
namespace {

using namespace store_memory;
using codec::Drop;
using model::Record;

// Rows as lines; each row once, however often it changed.
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
    // Follows from the runs.
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
        text_ += codec::CommitToLine({seq});
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

// Puts lines back into the tables.
class LineReader {
  public:
    LineReader(Tables& tables, Replayed& replayed) : tables_(tables), replayed_(replayed) {}

    void operator()(const Record& record) { std::visit(*this, record); }
    void operator()(const model::Job& job) {
        replayed_.jobs[job.id] = job;
        replayed_.dropped.erase(job.id);
    }
    void operator()(const model::Run& run) { tables_.Set(RunKey{run.id}, run); }
    void operator()(const model::Attempt& attempt) {
        std::vector<model::Attempt> rows = tables_.AttemptsOf(attempt.run_id);
        rows.push_back(attempt);
        tables_.Set(AttemptsKey{attempt.run_id}, std::move(rows));
    }
    void operator()(const model::LedgerEntry& entry) { tables_.Set(LedgerKey{entry.seq}, entry); }
    void operator()(const model::AuditEvent& event) { tables_.Set(EventKey{event.seq}, event); }
    void operator()(const model::Document& document) {
        tables_.Set(DocumentKey{document.kind, document.key}, document);
    }
    void operator()(const Drop& drop) {
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
    void operator()(const codec::CommitMark&) {}

  private:
    Tables& tables_;
    Replayed& replayed_;
};

// Of two runs that claim one key the later one has it: the earlier lost it when its time was up.
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
    for (const auto& [key, document] : tables.documents()) writer.Write(key);
    return writer.Finish(seq);
}

Replayed Replay(std::string_view log, Tables& tables) {
    Replayed replayed;
    LineReader reader(tables, replayed);
    std::vector<codec::LogLine> open;  // of the transaction whose mark has not come yet
    int open_bad = 0;
    std::size_t at = 0;
    for (;;) {
        const std::size_t end = log.find('\n', at);
        if (end == std::string_view::npos) break;
        auto line = codec::LogLineFromText(log.substr(at, end - at));
        at = end + 1;
        if (!line) {
            ++open_bad;
        } else if (const auto* mark = std::get_if<codec::CommitMark>(&*line)) {
            for (const codec::LogLine& each : open) std::visit(reader, each);
            open.clear();
            replayed.bad_lines += std::exchange(open_bad, 0);
            replayed.size = static_cast<std::int64_t>(at);
            replayed.last_seq = mark->seq;
        } else {
            open.push_back(*std::move(line));
        }
    }
    RestoreKeys(tables);
    (void)tables.TakeJournal();
    return replayed;
}

}  // namespace ksana::store_json

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/record.hpp"
#include "ksana/store_memory/sorted_blocks.hpp"

namespace ksana::store_memory {

// The run that holds a unique key; `until` none: until its state changes.
struct KeyRow {
    Uuid run_id;
    std::optional<TimePoint> until;
};

// The keys of rows. The journal is a list of them with former values.
struct JobKey {
    std::string id;
    friend auto operator<=>(const JobKey&, const JobKey&) = default;
};
struct RunKey {
    Uuid id;
    friend auto operator<=>(const RunKey&, const RunKey&) = default;
};
// All earlier attempts of a run.
struct AttemptsKey {
    Uuid run_id;
    friend auto operator<=>(const AttemptsKey&, const AttemptsKey&) = default;
};
struct UniqueKey {
    std::string tenant;
    std::string key;
    friend auto operator<=>(const UniqueKey&, const UniqueKey&) = default;
};
struct LedgerKey {
    std::int64_t seq;
    friend auto operator<=>(const LedgerKey&, const LedgerKey&) = default;
};
struct EventKey {
    std::int64_t seq;
    friend auto operator<=>(const EventKey&, const EventKey&) = default;
};
struct DocumentKey {
    std::string kind;
    std::string key;
    friend auto operator<=>(const DocumentKey&, const DocumentKey&) = default;
};

// All rows, with the indexes for claims, planning and reaping. All writes go through Set, which
// notes the former value in a journal, so that a transaction can be undone and the JSON store knows
// what has changed. Owned by a backend, whose lock guards it. Not thread-safe.
class Tables {
  public:
    using Ready = std::set<std::pair<std::int64_t, Uuid>>;  // by rank

    // Stores a row; nullopt deletes it.
    void Set(const JobKey& key, std::optional<model::Job> job);
    void Set(const RunKey& key, std::optional<model::Run> run);
    void Set(const AttemptsKey& key, std::optional<std::vector<model::Attempt>> attempts);
    void Set(const UniqueKey& key, std::optional<KeyRow> row);
    void Set(const LedgerKey& key, std::optional<model::LedgerEntry> entry);
    void Set(const EventKey& key, std::optional<model::AuditEvent> event);
    void Set(const DocumentKey& key, std::optional<model::Document> document);

    const model::Job* FindJob(std::string_view id) const;
    const model::Run* FindRun(const Uuid& id) const;
    const model::Document* FindDocument(const std::string& kind, const std::string& key) const;
    const KeyRow* FindKey(const UniqueKey& key) const;
    const std::vector<model::Attempt>& AttemptsOf(const Uuid& run_id) const;
    std::optional<Uuid> FindFire(const std::string& job_id, TimePoint nominal) const;

    // Jobs hashed by their own id, stored in the nodes themselves: there may be millions, and each
    // byte counts (bench/stores/memory_bench.cpp). The hash is not std::hash, whose value would be
    // cached in every node.
    struct IdHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view id) const noexcept { return HashText(id); }
        std::size_t operator()(const model::Job& job) const noexcept { return HashText(job.id); }
    };
    struct SameId {
        using is_transparent = void;
        bool operator()(const model::Job& a, const model::Job& b) const { return a.id == b.id; }
        bool operator()(std::string_view id, const model::Job& job) const { return id == job.id; }
    };
    using Jobs = std::unordered_set<model::Job, IdHash, SameId>;
    const Jobs& jobs() const { return jobs_; }
    const std::map<Uuid, model::Run>& runs() const { return runs_; }
    const std::map<std::int64_t, model::LedgerEntry>& ledger() const { return ledger_; }
    const std::map<std::int64_t, model::AuditEvent>& events() const { return events_; }
    const std::map<DocumentKey, model::Document>& documents() const { return documents_; }
    std::size_t attempt_count() const { return attempt_count_; }

    // Enabled jobs that have a next fire, ordered by it and the id.
    struct DueOrder {
        bool operator()(const model::Job* a, const model::Job* b) const {
            return std::tie(*a->state.next_run_at, a->id) < std::tie(*b->state.next_run_at, b->id);
        }
    };
    using Due = SortedBlocks<const model::Job*, DueOrder>;
    const Due& due() const { return due_; }
    const std::map<std::pair<model::ActionKind, std::string>, Ready>& ready() const {
        return ready_;
    }
    const std::set<std::pair<TimePoint, Uuid>>& scheduled() const { return scheduled_; }
    const std::set<std::pair<TimePoint, Uuid>>& running() const { return running_; }  // by expiry
    // Blocked by a run of the same job.
    const std::set<Uuid>& blocked() const { return blocked_; }
    // Runs that wait for other jobs, by the time of the next look at them.
    const std::set<std::pair<TimePoint, Uuid>>& awaiting() const { return awaiting_; }
    // The jobs that name this one (model::ParentsOf).
    const std::set<std::string>& DependantsOf(const std::string& job_id) const;
    // Unfinished runs of a job.
    const std::set<Uuid>& UnfinishedOf(const std::string& job_id) const;

    std::int64_t NextLedgerSeq() const { return ledger_.empty() ? 1 : ledger_.rbegin()->first + 1; }
    std::int64_t NextEventSeq() { return ++last_event_seq_; }
    // The highest number of an event so far, deleted ones included; 0: there was none.
    std::int64_t last_event_seq() const { return last_event_seq_; }

    // The journal ------------------------------------------------------------------------------
    // A row's key and its value before one change; nullopt: there was no row.
    using Before = std::variant<std::pair<JobKey, std::optional<model::Job>>,
                                std::pair<RunKey, std::optional<model::Run>>,
                                std::pair<AttemptsKey, std::optional<std::vector<model::Attempt>>>,
                                std::pair<UniqueKey, std::optional<KeyRow>>,
                                std::pair<LedgerKey, std::optional<model::LedgerEntry>>,
                                std::pair<EventKey, std::optional<model::AuditEvent>>,
                                std::pair<DocumentKey, std::optional<model::Document>>>;
    using Journal = std::vector<Before>;

    // Returns the changes since the last call and starts a new journal.
    Journal TakeJournal() { return std::exchange(journal_, {}); }
    std::size_t journal_size() const { return journal_.size(); }
    // Undoes the changes of the journal, the last one first.
    void TakeBack(Journal journal);

  private:
    void Index(const model::Run& run, bool add);
    void IndexParents(const model::Job& job, bool add);

    Jobs jobs_;
    std::map<Uuid, model::Run> runs_;
    std::map<Uuid, std::vector<model::Attempt>> attempts_;
    std::map<UniqueKey, KeyRow> keys_;
    std::map<std::int64_t, model::LedgerEntry> ledger_;
    std::map<std::int64_t, model::AuditEvent> events_;
    std::map<DocumentKey, model::Document> documents_;
    std::size_t attempt_count_ = 0;
    std::int64_t last_event_seq_ = 0;

    Due due_;
    std::map<std::pair<model::ActionKind, std::string>, Ready> ready_;
    std::set<std::pair<TimePoint, Uuid>> scheduled_;
    std::set<std::pair<TimePoint, Uuid>> running_;
    std::set<Uuid> blocked_;
    std::set<std::pair<TimePoint, Uuid>> awaiting_;
    std::unordered_map<std::string, std::set<std::string>> dependants_;
    std::unordered_map<std::string, std::set<Uuid>> unfinished_;
    std::map<std::pair<std::string, TimePoint>, Uuid> fires_;

    Journal journal_;
};

}  // namespace ksana::store_memory

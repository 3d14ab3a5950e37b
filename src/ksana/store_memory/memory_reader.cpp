#include "ksana/store_memory/memory_reader.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "ksana/store_kit/lists/lists.hpp"

namespace ksana::store_memory {
namespace {

using model::Job;
using model::Run;

// Returns copies of the first `limit` rows in order.
template <class T, class Less>
std::vector<T> FirstOf(std::vector<const T*> found, std::size_t limit, const Less& less) {
    const std::size_t count = std::min(limit, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count),
                      found.end(), [&](const T* a, const T* b) { return less(*a, *b); });
    std::vector<T> rows;
    rows.reserve(count);
    for (std::size_t i = 0; i < count; ++i) rows.push_back(*found[i]);
    return rows;
}

// Returns the matching rows in the order of their keys, from the cursor on. The cost depends on the
// rows passed, not on the size of the table.
template <class Rows, class List>
std::vector<typename Rows::mapped_type> PageOf(
    const Rows& rows, const List& list, const std::optional<typename Rows::key_type>& after) {
    std::vector<typename Rows::mapped_type> found;
    if (list.limit == 0) return found;
    const auto take = [&](const auto& row) {
        if (Matches(list, row)) found.push_back(row);
        return found.size() < list.limit;
    };
    if (list.descending) {
        auto row = after ? rows.lower_bound(*after) : rows.end();
        while (row != rows.begin() && take((--row)->second)) {
        }
    } else {
        auto row = after ? rows.upper_bound(*after) : rows.begin();
        while (row != rows.end() && take((row++)->second)) {
        }
    }
    return found;
}

// A job's place in a list; missing times come last.
using JobPlace = std::tuple<std::int64_t, std::string_view, std::string_view>;

JobPlace PlaceOf(const Job& job, store::JobSort sort) {
    return {store_kit::SortTime(job, sort),
            sort == store::JobSort::kName ? std::string_view(job.name) : std::string_view(),
            job.id};
}

using RunPlace = std::pair<std::int64_t, Uuid>;

RunPlace PlaceOf(const Run& run, store::RunSort sort) {
    return {store_kit::SortTime(run, sort), run.id};
}

bool Overlaps(const store_kit::LedgerList& list, const model::LedgerEntry& entry) {
    return (list.job_id.empty() || entry.job_id == list.job_id) &&
           (!list.from || entry.range.range.last >= *list.from) &&
           (!list.until || entry.range.range.first < *list.until);
}

}  // namespace

template <class Base>
Result<std::vector<Job>> TableReader<Base>::Jobs(const std::vector<std::string>& ids) {
    std::vector<Job> jobs;
    for (const std::string& id : ids) {
        if (const Job* job = rows_.FindJob(id)) jobs.push_back(*job);
    }
    return jobs;
}

template <class Base>
Result<std::vector<Run>> TableReader<Base>::Runs(const std::vector<Uuid>& ids) {
    std::vector<Run> runs;
    for (const Uuid& id : ids) {
        if (const Run* run = rows_.FindRun(id)) runs.push_back(*run);
    }
    return runs;
}

template <class Base>
Result<std::vector<model::Attempt>> TableReader<Base>::Attempts(const std::vector<Uuid>& run_ids) {
    std::vector<Uuid> sorted = run_ids;
    std::ranges::sort(sorted);
    std::vector<model::Attempt> attempts;
    for (const Uuid& id : sorted) {
        const auto& rows = rows_.AttemptsOf(id);
        attempts.insert(attempts.end(), rows.begin(), rows.end());
    }
    return attempts;
}

template <class Base>
Result<store_kit::ListedJobs> TableReader<Base>::ListJobs(const store_kit::JobList& list) {
    const auto less = [&](const Job& a, const Job& b) {
        return list.descending ? PlaceOf(b, list.sort) < PlaceOf(a, list.sort)
                               : PlaceOf(a, list.sort) < PlaceOf(b, list.sort);
    };
    std::vector<const Job*> found;
    for (const Job& job : rows_.jobs()) {
        if (list.after) {
            const JobPlace after{list.after->time, list.after->name, list.after->id};
            const JobPlace place = PlaceOf(job, list.sort);
            if (list.descending ? place >= after : place <= after) continue;
        }
        if (Matches(list, job)) found.push_back(&job);
    }
    return store_kit::ListedJobs{.rows = FirstOf(std::move(found), list.limit, less),
                                 .scanned_to = {}};
}

template <class Base>
Result<store::Counted> TableReader<Base>::CountJobs(const store_kit::JobList& list,
                                                    std::int64_t most) {
    std::int64_t count = 0;
    for (const Job& job : rows_.jobs()) {
        if (count == most) break;
        count += Matches(list, job) ? 1 : 0;
    }
    return store::Counted{.count = count};
}

template <class Base>
Result<store_kit::ListedRuns> TableReader<Base>::ListRuns(const store_kit::RunList& list) {
    if (list.sort == store::RunSort::kId) {
        std::optional<Uuid> after;
        if (list.after) after = list.after->id;
        return store_kit::ListedRuns{.rows = PageOf(rows_.runs(), list, after), .scanned_to = {}};
    }
    const auto less = [&](const Run& a, const Run& b) {
        return list.descending ? PlaceOf(b, list.sort) < PlaceOf(a, list.sort)
                               : PlaceOf(a, list.sort) < PlaceOf(b, list.sort);
    };
    std::vector<const Run*> found;
    for (const auto& [id, run] : rows_.runs()) {
        if (list.after) {
            const RunPlace after{list.after->time, list.after->id};
            const RunPlace place = PlaceOf(run, list.sort);
            if (list.descending ? place >= after : place <= after) continue;
        }
        if (Matches(list, run)) found.push_back(&run);
    }
    return store_kit::ListedRuns{.rows = FirstOf(std::move(found), list.limit, less),
                                 .scanned_to = {}};
}

template <class Base>
Result<store::Counted> TableReader<Base>::CountRuns(const store_kit::RunList& list,
                                                    std::int64_t most) {
    std::int64_t count = 0;
    for (const auto& [id, run] : rows_.runs()) {
        if (count == most) break;
        count += Matches(list, run) ? 1 : 0;
    }
    return store::Counted{.count = count};
}

template <class Base>
Result<std::vector<model::LedgerEntry>> TableReader<Base>::ListLedger(
    const store_kit::LedgerList& list) {
    std::vector<model::LedgerEntry> entries;
    const auto& ledger = rows_.ledger();
    for (auto row = ledger.upper_bound(list.after); row != ledger.end(); ++row) {
        if (entries.size() == list.limit) break;
        if (Overlaps(list, row->second)) entries.push_back(row->second);
    }
    return entries;
}

template <class Base>
Result<std::vector<model::AuditEvent>> TableReader<Base>::ListEvents(
    const store_kit::EventList& list) {
    return PageOf(rows_.events(), list, list.after);
}

template <class Base>
Result<std::vector<model::Document>> TableReader<Base>::ListDocuments(
    const store_kit::DocumentList& list) {
    std::vector<model::Document> found;
    const std::string& kind = list.kind.empty() ? list.after_kind : list.kind;
    const auto& documents = rows_.documents();
    auto row = documents.upper_bound({kind, list.after_key});
    if (list.after_key.empty() && list.after_kind.empty()) row = documents.lower_bound({kind, ""});
    for (; row != documents.end() && found.size() < list.limit; ++row) {
        const model::Document& document = row->second;
        if (!list.kind.empty() && document.kind != list.kind) break;
        if (!document.key.starts_with(list.prefix)) continue;
        if (list.alive_at && document.expires_at && *document.expires_at <= *list.alive_at) {
            continue;
        }
        found.push_back(document);
    }
    return found;
}

template <class Base>
Result<std::optional<Run>> TableReader<Base>::FindFire(const std::string& job_id,
                                                       TimePoint nominal) {
    std::optional<Run> run;
    if (const auto id = rows_.FindFire(job_id, nominal)) run = *rows_.FindRun(*id);
    return run;
}

template <class Base>
Result<std::vector<store::RunSample>> TableReader<Base>::Samples(
    const store::StatisticsParams& params, std::size_t limit) {
    store_kit::RunList list;
    list.filter.job_id = params.job_id;
    list.filter.finished_from = params.from;
    list.filter.finished_until = params.until;
    list.filter.states = model::kAllStates & ~model::kUnfinishedStates;
    list.sort = store::RunSort::kFinished;
    list.limit = limit;
    KSANA_TRY(const store_kit::ListedRuns runs, ListRuns(list));
    std::vector<store::RunSample> samples;
    for (const Run& run : runs.rows) {
        const model::RunStatus& status = run.status;
        store::RunSample sample{.state = status.state};
        if (status.started_at && status.ended_at) {
            sample.duration = *status.ended_at - *status.started_at;
        }
        samples.push_back(sample);
    }
    return samples;
}

template <class Base>
Result<std::vector<store::QueueDepth>> TableReader<Base>::Depths() {
    std::map<std::tuple<model::ActionKind, std::string, model::RunState>, store::QueueDepth> depths;
    for (const auto& [id, run] : rows_.runs()) {
        if (model::IsFinal(run.status.state)) continue;
        const auto [place, fresh] = depths.try_emplace(
            {run.kind, run.type, run.status.state},
            store::QueueDepth{run.kind, run.type, run.status.state, 0, run.status.ready_at});
        place->second.count += 1;
        place->second.oldest_ready_at =
            std::min(place->second.oldest_ready_at, run.status.ready_at);
    }
    std::vector<store::QueueDepth> rows;
    for (auto& [key, depth] : depths) rows.push_back(std::move(depth));
    return rows;
}

template <class Base>
Result<store::WakeTimes> TableReader<Base>::NextWake() {
    store::WakeTimes times;
    if (!rows_.due().empty()) times.plan = rows_.due().front()->state.next_run_at;
    if (!rows_.scheduled().empty()) times.ready = rows_.scheduled().begin()->first;
    if (!rows_.running().empty()) times.expiry = rows_.running().begin()->first;
    if (!rows_.awaiting().empty()) {
        const TimePoint look_at = rows_.awaiting().begin()->first;
        times.expiry = std::min(times.expiry.value_or(look_at), look_at);
    }
    times.queued = !rows_.ready().empty();
    return times;
}

template <class Base>
Result<store::RecordCounts> TableReader<Base>::Counts() {
    return store::RecordCounts{.jobs = static_cast<std::int64_t>(rows_.jobs().size()),
                               .runs = static_cast<std::int64_t>(rows_.runs().size()),
                               .attempts = static_cast<std::int64_t>(rows_.attempt_count()),
                               .ledger = static_cast<std::int64_t>(rows_.ledger().size()),
                               .events = static_cast<std::int64_t>(rows_.events().size()),
                               .documents = static_cast<std::int64_t>(rows_.documents().size())};
}

template <class Base>
Result<std::vector<std::string>> TableReader<Base>::DependantsOf(const std::string& job_id) {
    const std::set<std::string>& dependants = rows_.DependantsOf(job_id);
    return std::vector<std::string>(dependants.begin(), dependants.end());
}

template <class Base>
Result<std::vector<store::GroupSize>> TableReader<Base>::Groups(const store::GroupQuery& query) {
    std::map<std::string, store::GroupSize> sizes;
    for (const Job& job : rows_.jobs()) {
        if (job.group <= query.after || (!query.name.empty() && job.group != query.name)) continue;
        store::GroupSize& size = sizes[job.group];
        size.name = job.group;
        size.jobs += 1;
        size.paused += job.enabled ? 0 : 1;
        if (sizes.size() > query.limit) sizes.erase(std::prev(sizes.end()));
    }
    std::vector<store::GroupSize> groups;
    for (auto& [name, size] : sizes) groups.push_back(std::move(size));
    return groups;
}

template class TableReader<store_kit::Reader>;
template class TableReader<store_kit::Transaction>;

}  // namespace ksana::store_memory

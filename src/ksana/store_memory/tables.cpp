#include "ksana/store_memory/tables.hpp"

#include <algorithm>

#include "ksana/model/job/dependency.hpp"
#include "ksana/model/run/claim_order.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::store_memory {
namespace {

using model::Job;
using model::Run;
using model::RunState;

template <class Set, class Value>
void Change(Set& set, Value value, bool add) {
    if (add) {
        set.insert(std::move(value));
    } else {
        set.erase(value);
    }
}

// Sets or erases a map entry and returns its former value. `place` is the lower bound of `key`.
template <class Map, class Key, class Value>
std::optional<Value> ExchangeAt(Map& map, typename Map::iterator place, const Key& key,
                                std::optional<Value> value) {
    std::optional<Value> before;
    if (place != map.end() && place->first == key) {
        before = std::move(place->second);
        if (value) {
            place->second = *std::move(value);
        } else {
            map.erase(place);
        }
    } else if (value) {
        map.emplace_hint(place, key, *std::move(value));
    }
    return before;
}

template <class Map, class Key, class Value>
std::optional<Value> Exchange(Map& map, const Key& key, std::optional<Value> value) {
    return ExchangeAt(map, map.lower_bound(key), key, std::move(value));
}

}  // namespace

void Tables::Set(const JobKey& key, std::optional<Job> job) {
    const auto is_due = [](const Job& row) { return row.enabled && row.state.next_run_at; };
    std::optional<Job> before;
    if (const auto found = jobs_.find(key.id); found != jobs_.end()) {
        if (is_due(*found)) due_.Remove(&*found);
        IndexParents(*found, false);
        before = std::move(jobs_.extract(found).value());
    }
    if (job) {
        const Job& row = *jobs_.insert(*std::move(job)).first;
        if (is_due(row)) due_.Add(&row);
        IndexParents(row, true);
    }
    journal_.emplace_back(std::pair(key, std::move(before)));
}

void Tables::IndexParents(const Job& job, bool add) {
    if (job.depends_on.empty() && job.schedule.jobs.empty()) return;
    for (const std::string& parent : model::ParentsOf(job)) {
        const auto place = dependants_.try_emplace(parent).first;
        Change(place->second, job.id, add);
        if (place->second.empty()) dependants_.erase(place);
    }
}

void Tables::Index(const Run& run, bool add) {
    const model::RunStatus& status = run.status;
    switch (status.state) {
        case RunState::kScheduled:
            Change(scheduled_, std::pair(status.ready_at, run.id), add);
            break;
        case RunState::kQueued:
            if (const auto look_at = model::LooksAgainAt(run)) {
                Change(awaiting_, std::pair(*look_at, run.id), add);
            } else if (status.blocked) {
                Change(blocked_, run.id, add);
            } else {
                const auto place = ready_.try_emplace({run.kind, run.type}).first;
                const auto rank = model::ClaimRank(status.ready_at, run.priority);
                Change(place->second, std::pair(rank, run.id), add);
                if (place->second.empty()) ready_.erase(place);
            }
            break;
        case RunState::kRunning:
            // A run without a lease and a deadline never expires.
            Change(running_, std::pair(model::ExpiresAt(run).value_or(TimePoint::max()), run.id),
                   add);
            break;
        default:
            break;
    }
    if (run.job_id.empty()) return;
    if (!model::IsFinal(status.state)) {
        const auto place = unfinished_.try_emplace(run.job_id).first;
        Change(place->second, run.id, add);
        if (place->second.empty()) unfinished_.erase(place);
    }
    if (!run.nominal_at) return;
    if (add) {
        fires_[{run.job_id, *run.nominal_at}] = run.id;
    } else {
        fires_.erase({run.job_id, *run.nominal_at});
    }
}

void Tables::Set(const RunKey& key, std::optional<Run> run) {
    const auto place = runs_.lower_bound(key.id);
    if (place != runs_.end() && place->first == key.id) Index(place->second, false);
    if (run) Index(*run, true);
    journal_.emplace_back(std::pair(key, ExchangeAt(runs_, place, key.id, std::move(run))));
}

void Tables::Set(const AttemptsKey& key, std::optional<std::vector<model::Attempt>> attempts) {
    if (attempts) attempt_count_ += attempts->size();
    auto before = Exchange(attempts_, key.run_id, std::move(attempts));
    if (before) attempt_count_ -= before->size();
    journal_.emplace_back(std::pair(key, std::move(before)));
}

void Tables::Set(const UniqueKey& key, std::optional<KeyRow> row) {
    journal_.emplace_back(std::pair(key, Exchange(keys_, key, row)));
}

void Tables::Set(const LedgerKey& key, std::optional<model::LedgerEntry> entry) {
    journal_.emplace_back(std::pair(key, Exchange(ledger_, key.seq, std::move(entry))));
}

void Tables::Set(const EventKey& key, std::optional<model::AuditEvent> event) {
    last_event_seq_ = std::max(last_event_seq_, key.seq);
    journal_.emplace_back(std::pair(key, Exchange(events_, key.seq, std::move(event))));
}

void Tables::Set(const DocumentKey& key, std::optional<model::Document> document) {
    journal_.emplace_back(std::pair(key, Exchange(documents_, key, std::move(document))));
}

void Tables::TakeBack(Journal journal) {
    for (auto entry = journal.rbegin(); entry != journal.rend(); ++entry) {
        std::visit([this](auto& change) { Set(change.first, std::move(change.second)); }, *entry);
    }
    journal_.clear();
}

const Job* Tables::FindJob(std::string_view id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &*found;
}

const Run* Tables::FindRun(const Uuid& id) const {
    const auto found = runs_.find(id);
    return found == runs_.end() ? nullptr : &found->second;
}

const model::Document* Tables::FindDocument(const std::string& kind, const std::string& key) const {
    const auto found = documents_.find({kind, key});
    return found == documents_.end() ? nullptr : &found->second;
}

const KeyRow* Tables::FindKey(const UniqueKey& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : &found->second;
}

const std::vector<model::Attempt>& Tables::AttemptsOf(const Uuid& run_id) const {
    static const std::vector<model::Attempt> none;
    const auto found = attempts_.find(run_id);
    return found == attempts_.end() ? none : found->second;
}

std::optional<Uuid> Tables::FindFire(const std::string& job_id, TimePoint nominal) const {
    const auto found = fires_.find({job_id, nominal});
    if (found == fires_.end()) return std::nullopt;
    return found->second;
}

const std::set<std::string>& Tables::DependantsOf(const std::string& job_id) const {
    static const std::set<std::string> none;
    const auto found = dependants_.find(job_id);
    return found == dependants_.end() ? none : found->second;
}

const std::set<Uuid>& Tables::UnfinishedOf(const std::string& job_id) const {
    static const std::set<Uuid> none;
    const auto found = unfinished_.find(job_id);
    return found == unfinished_.end() ? none : found->second;
}

}  // namespace ksana::store_memory

#include "ksana/engine/workers/worker_watch.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

using model::Worker;
using model::WorkerState;

// Between two reads of all workers, however many come and go.
constexpr Duration kPause = std::chrono::milliseconds(500);
// A claim of a replaced worker that was under way when its successor registered is over by then.
constexpr Duration kSettle = std::chrono::seconds(5);
// Replacements older than this were settled by whoever was there.
constexpr Duration kSettled = std::chrono::minutes(2);
constexpr Duration kJump = std::chrono::seconds(5);
constexpr std::size_t kReapBatch = 500;
constexpr std::size_t kMaxReaps = 1'000;
constexpr std::size_t kDeleteBatch = 200;

}  // namespace

Result<Step> WorkerWatch::RunOnce() {
    Step step;
    if (jumps_.Take() > kJump) GiveGrace();
    KSANA_TRY_VOID(WriteAgents());
    RingPreferences(step);
    const SteadyPoint now = clock_.SteadyNow();
    const bool due = look_at_ && *look_at_ <= clock_.Now();
    if (!changed_ && !due && looked_at_) {
        if (look_at_) step.NotLaterThan(*look_at_);
        return step;
    }
    if (looked_at_ && now < *looked_at_ + kPause) {
        step.NotAfter(std::chrono::ceil<Duration>(*looked_at_ + kPause - now));
        return step;
    }
    looked_at_ = now;
    changed_ = false;
    if (auto looked = Look(); !looked) {
        changed_ = true;
        failing_ = true;
        return std::move(looked).error();
    }
    if (look_at_) step.NotLaterThan(*look_at_);
    return step;
}

Result<void> WorkerWatch::WriteAgents() {
    const std::vector<Worker> agents = agents_.Take();
    if (agents.empty()) return {};
    if (auto written = store_.workers().NoteAgents(agents, {}); !written) {
        agents_.PutBack(agents);
        return written;
    }
    changed_ = true;
    return {};
}

// Whoever looks for runs may now take those that others were asked about first.
void WorkerWatch::RingPreferences(Step& step) {
    const TimePoint now = directory_.StoreNow();
    if (directory_.TakePreferences(now)) {
        store_.changes().Publish(store::Topic::kReady | store::Topic::kTasks);
    }
    if (const auto next = directory_.NextPreference()) {
        step.NotLaterThan(OnThisNode(*next, now, clock_));
    }
}

void WorkerWatch::GiveGrace() { judge_from_ = clock_.SteadyNow() + options_.grace; }

void WorkerWatch::LookAgainAt(TimePoint store_time) {
    const TimePoint at = OnThisNode(store_time, directory_.StoreNow(), clock_);
    look_at_ = std::min(look_at_.value_or(at), at);
}

Result<void> WorkerWatch::Look() {
    KSANA_TRY(const WorkerDirectory::Snapshot snapshot, directory_.Refresh());
    if (std::exchange(failing_, false)) GiveGrace();
    look_at_.reset();
    KSANA_TRY_VOID(TakeFromLost(snapshot.workers, snapshot.at));
    return DeleteOld(snapshot.workers, snapshot.at);
}

Result<void> WorkerWatch::TakeFromLost(const std::vector<Worker>& workers, TimePoint now) {
    const bool may_judge = !judge_from_ || clock_.SteadyNow() >= *judge_from_;
    std::vector<std::string> owners;
    std::vector<const Worker*> silent;
    std::map<std::string, Uuid> settled;
    for (const Worker& worker : workers) {
        if (worker.agent) continue;
        if (worker.replaced && now < worker.registered_at + kSettled) {
            const auto before = settled_.find(worker.id);
            const bool done = before != settled_.end() && before->second == worker.incarnation;
            const TimePoint settles = worker.registered_at + kSettle;
            if (!done) owners.push_back(model::OwnerName(worker.id, *worker.replaced));
            if (done || now >= settles) {
                settled[worker.id] = worker.incarnation;
            } else {
                LookAgainAt(settles);
            }
        }
        const WorkerState state = model::StateOf(worker, now, directory_.silence());
        if (state == WorkerState::kGone || worker.reaped) continue;
        if (state != WorkerState::kDown) {
            // The state changes when the silence is exceeded, not when it is reached.
            LookAgainAt(worker.last_heartbeat_at + directory_.silence() + Duration(1));
        } else if (may_judge) {
            owners.push_back(model::OwnerOf(worker));
            silent.push_back(&worker);
        } else {
            LookAgainAt(now + std::chrono::ceil<Duration>(*judge_from_ - clock_.SteadyNow()));
        }
    }
    if (!owners.empty()) {
        KSANA_TRY_VOID(Reap(store_, owners, options_.follow_up));
    }
    settled_ = std::move(settled);
    for (const Worker* worker : silent) {
        Log(LogLevel::kWarn, "a worker is down: it has sent no heartbeat for too long",
            {{"worker", worker->id}, {"incarnation", worker->incarnation.ToString()}});
        KSANA_TRY_VOID(store_.workers().NoteReaped(worker->id, worker->last_heartbeat_at));
    }
    return {};
}

Result<std::size_t> WorkerWatch::Reap(store::Store& store, const std::vector<std::string>& owners,
                                      const store::FollowUp& follow_up) {
    std::size_t count = 0;
    for (std::size_t n = 0; n < kMaxReaps; ++n) {
        store::ReapParams params;
        params.lost_owners = owners;
        params.limit = kReapBatch;
        params.follow_up = follow_up;
        KSANA_TRY(const store::Reaped reaped, store.runs().Reap(std::move(params)));
        count += reaped.runs.size();
        if (!reaped.more) break;
    }
    return count;
}

// Rows of workers that left or died long ago, and of more agents than anybody can look at.
Result<void> WorkerWatch::DeleteOld(const std::vector<Worker>& workers, TimePoint now) {
    std::vector<const Worker*> old;
    std::vector<const Worker*> agents;
    for (const Worker& worker : workers) {
        const bool dead = worker.agent || worker.deregistered || worker.reaped;
        if (dead && worker.last_heartbeat_at < now - options_.keep) {
            old.push_back(&worker);
            continue;
        }
        if (dead) LookAgainAt(worker.last_heartbeat_at + options_.keep + Duration(1));
        if (worker.agent) agents.push_back(&worker);
    }
    if (agents.size() > AgentPresence::kMaxAgents) {
        std::ranges::sort(agents, {}, &Worker::last_heartbeat_at);
        agents.resize(agents.size() - AgentPresence::kMaxAgents);
        std::ranges::move(agents, std::back_inserter(old));
    }
    if (old.size() > kDeleteBatch) {
        old.resize(kDeleteBatch);
        LookAgainAt(now + kPause);
    }
    for (const Worker* worker : old) {
        KSANA_TRY_VOID(
            store_.workers().ForgetSilent(worker->id, worker->last_heartbeat_at + Duration(1)));
    }
    return {};
}

}  // namespace ksana::engine

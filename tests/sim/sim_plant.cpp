#include "sim/sim_plant.hpp"

#include <array>
#include <utility>

#include "ksana/base/ids/hash.hpp"
#include "ksana/engine/limits/limit_shares.hpp"

namespace ksana::sim {
namespace {

using model::EventKind;
using model::EventVerdict;
using model::RunEvent;
using namespace store;

bool EndsAttempt(EventKind kind) {
    return kind == EventKind::kSuccess || kind == EventKind::kRetryableFailure ||
           kind == EventKind::kPermanentFailure || kind == EventKind::kTimeout;
}

// Forwards to `inner`, with a bug in PlanDue.
class PlantedJobs final : public JobStore {
  public:
    PlantedJobs(World& world, JobStore& inner, ClusterPlant plant)
        : world_(world), inner_(inner), plant_(plant) {}

    Result<Planned> PlanDue(const PlanParams& params, const Planner& planner) override {
        if (plant_ != ClusterPlant::kDoubleFire) return inner_.PlanDue(params, planner);
        return inner_.PlanDue(params, [&](const model::Job& job, TimePoint now) {
            JobPlan plan = planner(job, now);
            if (!plan.runs.empty() && world_.Chance(10)) {
                model::Run again = plan.runs.back();
                *again.nominal_at += Duration(1);
                plan.runs.push_back(std::move(again));
            }
            return plan;
        });
    }

    Result<Planned> PlanJobs(const PlanJobsParams& params, const Planner& planner) override {
        return inner_.PlanJobs(params, planner);
    }
    Result<std::vector<Result<model::Job>>> Write(WriteJobsParams params) override {
        return inner_.Write(std::move(params));
    }
    Result<void> Delete(DeleteJobParams params) override {
        return inner_.Delete(std::move(params));
    }
    Result<model::Job> Get(const std::string& id) override { return inner_.Get(id); }
    Result<std::vector<model::Job>> GetMany(const std::vector<std::string>& ids) override {
        return inner_.GetMany(ids);
    }
    Result<Page<model::Job>> List(const JobQuery& query) override { return inner_.List(query); }
    Result<std::vector<std::string>> Dependants(const std::string& id) override {
        return inner_.Dependants(id);
    }
    Result<Counted> CountWithin(const JobFilter& filter, const CountBounds& bounds) override {
        return inner_.CountWithin(filter, bounds);
    }
    Result<std::vector<GroupSize>> Groups(const GroupQuery& query) override {
        return inner_.Groups(query);
    }
    Result<JobStatistics> Statistics(const StatisticsParams& params) override {
        return inner_.Statistics(params);
    }
    Result<Page<model::LedgerEntry>> Ledger(const LedgerParams& params) override {
        return inner_.Ledger(params);
    }
    Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                               TimePoint nominal) override {
        return inner_.FindFire(job_id, nominal);
    }
    Result<std::vector<TimePoint>> FindFires(const std::string& job_id,
                                             const std::vector<TimePoint>& nominals) override {
        return inner_.FindFires(job_id, nominals);
    }

  private:
    World& world_;
    JobStore& inner_;
    const ClusterPlant plant_;
};

// Forwards to `inner`, with bugs in Exchange and Reap.
class PlantedRuns final : public RunStore {
  public:
    PlantedRuns(World& world, RunStore& inner, ClusterPlant plant)
        : world_(world), inner_(inner), plant_(plant) {}

    Result<Exchanged> Exchange(ExchangeParams params) override {
        if (plant_ == ClusterPlant::kMissingFence) DropFence(params, false);
        if (plant_ == ClusterPlant::kUnfencedAgent) DropFence(params, true);
        if (plant_ == ClusterPlant::kUnfencedConsumer) DropFenceOfConsumers(params);
        if (plant_ == ClusterPlant::kLostCallback) LoseSome(params.follow_up);
        if (plant_ == ClusterPlant::kLostUpdate) return ExchangeWithLoss(std::move(params));
        return inner_.Exchange(std::move(params));
    }

    Result<std::vector<Submitted>> Submit(SubmitParams params) override {
        return inner_.Submit(std::move(params));
    }
    Result<Reaped> Reap(ReapParams params) override {
        if (plant_ == ClusterPlant::kForgottenOrphan) params.lost_owners.clear();
        if (plant_ == ClusterPlant::kLostCallback) LoseSome(params.follow_up);
        if (plant_ == ClusterPlant::kEarlyHandOver) {
            params.now = world_.store_clock().Now() + std::chrono::seconds(3);
        }
        return inner_.Reap(std::move(params));
    }
    Result<std::size_t> Purge(const PurgeParams& params) override { return inner_.Purge(params); }
    Result<void> Delete(DeleteRunParams params) override {
        return inner_.Delete(std::move(params));
    }
    Result<RunHistory> Get(const Uuid& id) override { return inner_.Get(id); }
    Result<Page<model::Run>> List(const RunQuery& query) override {
        const bool blind = plant_ == ClusterPlant::kBlindLimits && !query.filter.type.empty();
        return blind ? Page<model::Run>{} : inner_.List(query);
    }
    Result<Counted> CountWithin(const RunFilter& filter, const CountBounds& bounds) override {
        return inner_.CountWithin(filter, bounds);
    }
    Result<std::vector<QueueDepth>> Depths() override { return inner_.Depths(); }
    Result<WakeTimes> NextWake() override { return inner_.NextWake(); }

  private:
    // Of a consumer that nobody has in his place: what the broker has is taken by whoever speaks.
    void DropFenceOfConsumers(ExchangeParams& params) {
        for (RunEvent& event : params.events) {
            if (!EndsAttempt(event.event.kind) || !event.event.owner.starts_with("consumer"))
                continue;
            const auto there = inner_.Get(event.run_id);
            if (!there || there->run.status.owner == event.event.owner) continue;
            event.event.exec_id = there->run.status.exec_id;
            event.event.owner = there->run.status.owner;
        }
    }

    void DropFence(ExchangeParams& params, bool only_agents) {
        for (RunEvent& event : params.events) {
            if (!EndsAttempt(event.event.kind)) continue;
            const auto there = inner_.Get(event.run_id);
            if (!there) continue;
            if (only_agents && there->run.kind != model::ActionKind::kQueue) continue;
            event.event.exec_id = there->run.status.exec_id;
        }
    }

    void LoseSome(FollowUp& follow_up) {
        if (!follow_up) return;
        follow_up = [this, inner = follow_up](const model::Run& run, model::CallbackWanted wanted) {
            return world_.Chance(50) ? std::vector<model::Run>() : inner(run, wanted);
        };
    }

    // Other reports are refused anyway.
    bool IsCurrent(const RunEvent& event) {
        const auto there = inner_.Get(event.run_id);
        return there && there->run.status.state == model::RunState::kRunning &&
               there->run.status.exec_id == event.event.exec_id;
    }

    Result<Exchanged> ExchangeWithLoss(ExchangeParams params) {
        std::vector<bool> lost;
        for (const RunEvent& event : params.events) {
            lost.push_back(EndsAttempt(event.event.kind) && world_.Chance(10) && IsCurrent(event));
        }
        std::size_t n = 0;
        std::erase_if(params.events, [&](const RunEvent&) { return lost[n++]; });
        KSANA_TRY(Exchanged exchanged, inner_.Exchange(std::move(params)));
        for (std::size_t place = 0; place < lost.size(); ++place) {
            if (!lost[place]) continue;
            exchanged.applied.insert(
                exchanged.applied.begin() + static_cast<std::ptrdiff_t>(place),
                {.verdict = EventVerdict::kApplied, .state = model::RunState::kSucceeded});
        }
        return exchanged;
    }

    World& world_;
    RunStore& inner_;
    const ClusterPlant plant_;
};

// Hides the limits, or the shares of them.
class PlantedSettings final : public SettingStore {
  public:
    PlantedSettings(SettingStore& inner, ClusterPlant plant) : inner_(inner), plant_(plant) {}

    Result<Page<model::Document>> List(const ListParams& params) override {
        const bool alone = HidesShare(params.prefix);
        if (plant_ == ClusterPlant::kNoLimits || alone) return Page<model::Document>{};
        return inner_.List(params);
    }
    Result<model::Document> Put(SettingWrite write) override {
        if (HidesShare(write.key)) write.expected.reset();
        return inner_.Put(std::move(write));
    }
    Result<model::Document> Get(const std::string& key) override { return inner_.Get(key); }
    Result<void> Delete(const std::string& key, ExpectedVersion expected,
                        const std::optional<model::AuditEvent>& audit) override {
        return inner_.Delete(key, expected, audit);
    }
    Result<std::size_t> PurgeExpired(std::size_t limit) override {
        return inner_.PurgeExpired(limit);
    }

  private:
    bool HidesShare(const std::string& key) const {
        return plant_ == ClusterPlant::kLoneShares && key.starts_with(engine::kShareSettings);
    }

    SettingStore& inner_;
    const ClusterPlant plant_;
};

class PlantedStore final : public Store {
  public:
    PlantedStore(World& world, Store& inner, ClusterPlant plant)
        : inner_(inner),
          jobs_(world, inner.jobs(), plant),
          runs_(world, inner.runs(), plant),
          settings_(inner.settings(), plant) {}

    JobStore& jobs() override { return jobs_; }
    RunStore& runs() override { return runs_; }
    TypeStore& types() override { return inner_.types(); }
    WorkerStore& workers() override { return inner_.workers(); }
    NodeStore& nodes() override { return inner_.nodes(); }
    LockStore& locks() override { return inner_.locks(); }
    SettingStore& settings() override { return settings_; }
    EventStore& events() override { return inner_.events(); }
    RecordStore& records() override { return inner_.records(); }
    ChangeFeed& changes() override { return inner_.changes(); }
    void MakeRunsWith(RunMaker maker) override { inner_.MakeRunsWith(std::move(maker)); }
    Result<TimePoint> Now() override { return inner_.Now(); }
    Result<StoreInfo> Info() override { return inner_.Info(); }

  private:
    Store& inner_;
    PlantedJobs jobs_;
    PlantedRuns runs_;
    PlantedSettings settings_;
};

}  // namespace

std::optional<ClusterPlant> PlantOf(std::string_view name) {
    static constexpr std::array<std::string_view, 19> kNames = {
        "none",           "lost_update",     "double_fire",
        "missing_fence",  "forgotten_retry", "no_limits",
        "lost_callback",  "unfenced_agent",  "early_hand_over",
        "double_key",     "lone_shares",     "lost_release",
        "double_release", "forgotten_join",  "forgotten_orphan",
        "early_dispatch", "no_sweep",        "unfenced_consumer",
        "blind_limits"};
    for (std::size_t n = 0; n < kNames.size(); ++n) {
        if (kNames.at(n) == name) return static_cast<ClusterPlant>(n);
    }
    return std::nullopt;
}

std::unique_ptr<Store> PlantInStore(World& world, Store& inner, ClusterPlant plant) {
    return std::make_unique<PlantedStore>(world, inner, plant);
}

BackendBugs PlantInBackend(World& world, ClusterPlant plant) {
    BackendBugs bugs;
    if (plant == ClusterPlant::kForgottenRetry) {
        // For tasks and callbacks this would be another bug, found under another name.
        bugs.forgotten = [](const model::Run& run) {
            return !run.job_id.empty() && run.status.failures > 0 && UuidHash()(run.id) % 8 == 0;
        };
    }
    if (plant == ClusterPlant::kDoubleKey) {
        bugs.double_key = [&world] { return world.Chance(50); };
    }
    const auto some = [](const model::Run& run) { return UuidHash()(run.id) % 4 == 0; };
    if (plant == ClusterPlant::kLostRelease) bugs.lost_release = some;
    if (plant == ClusterPlant::kDoubleRelease) bugs.double_release = some;
    if (plant == ClusterPlant::kForgottenJoin) {
        bugs.forgotten_join = [&world] { return world.Chance(700); };
    }
    return bugs;
}

}  // namespace ksana::sim

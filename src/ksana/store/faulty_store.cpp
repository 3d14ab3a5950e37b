#include "ksana/store/faulty_store.hpp"

#include <utility>

namespace ksana::store {
namespace {

// Makes calls and injects the faults of the plan. Thread-safe if `wait` is.
class Injector {
  public:
    Injector(FaultPlan& plan, std::function<void(Duration)> wait)
        : plan_(plan), wait_(std::move(wait)) {}

    // `body` may be called twice, so it must not move from its arguments.
    template <class F>
    auto Call(std::string_view operation, const F& body) -> decltype(body()) {
        const Fault fault = plan_.Take(operation);
        switch (fault.kind) {
            case FaultKind::kNone:
                return body();
            case FaultKind::kErrorBefore:
                return Error(Code::kUnavailable, "injected: nothing was done");
            case FaultKind::kErrorAfter: {
                auto answer = body();
                if (!answer) return answer;
                return Error(Code::kUnavailable, "injected: the outcome is unknown");
            }
            case FaultKind::kDelay:
                if (wait_) wait_(fault.delay);
                return body();
            case FaultKind::kDuplicate: {
                auto first = body();
                (void)body();
                return first;
            }
        }
        return body();
    }

  private:
    FaultPlan& plan_;
    std::function<void(Duration)> wait_;
};

// The role stores below forward every call to `inner_` through the injector.
class FaultyJobs final : public JobStore {
  public:
    FaultyJobs(JobStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<std::vector<Result<model::Job>>> Write(WriteJobsParams params) override {
        return injector_.Call("jobs.Write", [&] { return inner_.Write(params); });
    }
    Result<void> Delete(DeleteJobParams params) override {
        return injector_.Call("jobs.Delete", [&] { return inner_.Delete(params); });
    }
    Result<model::Job> Get(const std::string& id) override {
        return injector_.Call("jobs.Get", [&] { return inner_.Get(id); });
    }
    Result<std::vector<model::Job>> GetMany(const std::vector<std::string>& ids) override {
        return injector_.Call("jobs.GetMany", [&] { return inner_.GetMany(ids); });
    }
    Result<Page<model::Job>> List(const JobQuery& query) override {
        return injector_.Call("jobs.List", [&] { return inner_.List(query); });
    }
    Result<std::vector<std::string>> Dependants(const std::string& id) override {
        return injector_.Call("jobs.Dependants", [&] { return inner_.Dependants(id); });
    }
    Result<Counted> CountWithin(const JobFilter& filter, const CountBounds& bounds) override {
        return injector_.Call("jobs.Count", [&] { return inner_.CountWithin(filter, bounds); });
    }
    Result<std::vector<GroupSize>> Groups(const GroupQuery& query) override {
        return injector_.Call("jobs.Groups", [&] { return inner_.Groups(query); });
    }
    Result<Planned> PlanDue(const PlanParams& params, const Planner& planner) override {
        return injector_.Call("jobs.PlanDue", [&] { return inner_.PlanDue(params, planner); });
    }
    Result<Planned> PlanJobs(const PlanJobsParams& params, const Planner& planner) override {
        return injector_.Call("jobs.PlanJobs", [&] { return inner_.PlanJobs(params, planner); });
    }
    Result<JobStatistics> Statistics(const StatisticsParams& params) override {
        return injector_.Call("jobs.Statistics", [&] { return inner_.Statistics(params); });
    }
    Result<Page<model::LedgerEntry>> Ledger(const LedgerParams& params) override {
        return injector_.Call("jobs.Ledger", [&] { return inner_.Ledger(params); });
    }
    Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                               TimePoint nominal) override {
        return injector_.Call("jobs.FindFire", [&] { return inner_.FindFire(job_id, nominal); });
    }
    Result<std::vector<TimePoint>> FindFires(const std::string& job_id,
                                             const std::vector<TimePoint>& nominals) override {
        return injector_.Call("jobs.FindFires", [&] { return inner_.FindFires(job_id, nominals); });
    }

  private:
    JobStore& inner_;
    Injector& injector_;
};

class FaultyRuns final : public RunStore {
  public:
    FaultyRuns(RunStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<std::vector<Submitted>> Submit(SubmitParams params) override {
        return injector_.Call("runs.Submit", [&] { return inner_.Submit(params); });
    }
    Result<Exchanged> Exchange(ExchangeParams params) override {
        return injector_.Call("runs.Exchange", [&] { return inner_.Exchange(params); });
    }
    Result<Reaped> Reap(ReapParams params) override {
        return injector_.Call("runs.Reap", [&] { return inner_.Reap(params); });
    }
    Result<std::size_t> Purge(const PurgeParams& params) override {
        return injector_.Call("runs.Purge", [&] { return inner_.Purge(params); });
    }
    Result<void> Delete(DeleteRunParams params) override {
        return injector_.Call("runs.Delete", [&] { return inner_.Delete(params); });
    }
    Result<RunHistory> Get(const Uuid& id) override {
        return injector_.Call("runs.Get", [&] { return inner_.Get(id); });
    }
    Result<Page<model::Run>> List(const RunQuery& query) override {
        return injector_.Call("runs.List", [&] { return inner_.List(query); });
    }
    Result<Counted> CountWithin(const RunFilter& filter, const CountBounds& bounds) override {
        return injector_.Call("runs.Count", [&] { return inner_.CountWithin(filter, bounds); });
    }
    Result<std::vector<QueueDepth>> Depths() override {
        return injector_.Call("runs.Depths", [&] { return inner_.Depths(); });
    }
    Result<WakeTimes> NextWake() override {
        return injector_.Call("runs.NextWake", [&] { return inner_.NextWake(); });
    }

  private:
    RunStore& inner_;
    Injector& injector_;
};

class FaultyTypes final : public TypeStore {
  public:
    FaultyTypes(TypeStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<Versioned<model::RunType>> Put(TypeWrite write) override {
        return injector_.Call("types.Put", [&] { return inner_.Put(write); });
    }
    Result<Versioned<model::RunType>> Get(const std::string& code) override {
        return injector_.Call("types.Get", [&] { return inner_.Get(code); });
    }
    Result<Page<model::RunType>> List(const ListParams& params) override {
        return injector_.Call("types.List", [&] { return inner_.List(params); });
    }
    Result<void> Delete(DeleteTypeParams params) override {
        return injector_.Call("types.Delete", [&] { return inner_.Delete(params); });
    }

  private:
    TypeStore& inner_;
    Injector& injector_;
};

class FaultyWorkers final : public WorkerStore {
  public:
    FaultyWorkers(WorkerStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<model::Worker> Register(model::Worker worker, std::optional<TimePoint> now) override {
        return injector_.Call("workers.Register", [&] { return inner_.Register(worker, now); });
    }
    Result<model::Worker> Beat(const Heartbeat& beat) override {
        return injector_.Call("workers.Beat", [&] { return inner_.Beat(beat); });
    }
    Result<void> Deregister(const std::string& id, const Uuid& incarnation) override {
        return injector_.Call("workers.Deregister",
                              [&] { return inner_.Deregister(id, incarnation); });
    }
    Result<model::Worker> RequestDrain(const std::string& id,
                                       const std::optional<model::AuditEvent>& audit) override {
        return injector_.Call("workers.RequestDrain",
                              [&] { return inner_.RequestDrain(id, audit); });
    }
    Result<void> NoteReaped(const std::string& id, TimePoint last_heartbeat_at) override {
        return injector_.Call("workers.NoteReaped",
                              [&] { return inner_.NoteReaped(id, last_heartbeat_at); });
    }
    Result<void> NoteAgents(const std::vector<model::Worker>& agents,
                            std::optional<TimePoint> now) override {
        return injector_.Call("workers.NoteAgents", [&] { return inner_.NoteAgents(agents, now); });
    }
    Result<void> ForgetSilent(const std::string& id, TimePoint before) override {
        return injector_.Call("workers.ForgetSilent",
                              [&] { return inner_.ForgetSilent(id, before); });
    }
    Result<void> Forget(const std::string& id) override {
        return injector_.Call("workers.Forget", [&] { return inner_.Forget(id); });
    }
    Result<model::Worker> Get(const std::string& id) override {
        return injector_.Call("workers.Get", [&] { return inner_.Get(id); });
    }
    Result<Page<model::Worker>> List(const ListParams& params) override {
        return injector_.Call("workers.List", [&] { return inner_.List(params); });
    }

  private:
    WorkerStore& inner_;
    Injector& injector_;
};

class FaultyNodes final : public NodeStore {
  public:
    FaultyNodes(NodeStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<model::ServerNode> Register(model::ServerNode node,
                                       std::optional<TimePoint> now) override {
        return injector_.Call("nodes.Register", [&] { return inner_.Register(node, now); });
    }
    Result<model::ServerNode> Beat(model::ServerNode node, std::optional<TimePoint> now) override {
        return injector_.Call("nodes.Beat", [&] { return inner_.Beat(node, now); });
    }
    Result<void> Leave(const std::string& name, const std::string& incarnation) override {
        return injector_.Call("nodes.Leave", [&] { return inner_.Leave(name, incarnation); });
    }
    Result<void> MarkDown(const std::string& name, const std::string& incarnation) override {
        return injector_.Call("nodes.MarkDown", [&] { return inner_.MarkDown(name, incarnation); });
    }
    Result<void> Forget(const std::string& name, const std::string& incarnation) override {
        return injector_.Call("nodes.Forget", [&] { return inner_.Forget(name, incarnation); });
    }
    Result<model::ServerNode> Get(const std::string& name) override {
        return injector_.Call("nodes.Get", [&] { return inner_.Get(name); });
    }
    Result<Page<model::ServerNode>> List(const ListParams& params) override {
        return injector_.Call("nodes.List", [&] { return inner_.List(params); });
    }
    Result<std::optional<std::vector<std::string>>> WithoutSession(
        const std::vector<std::string>& incarnations) override {
        return injector_.Call("nodes.WithoutSession",
                              [&] { return inner_.WithoutSession(incarnations); });
    }

  private:
    NodeStore& inner_;
    Injector& injector_;
};

class FaultyLocks final : public LockStore {
  public:
    FaultyLocks(LockStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<LockAnswer> TryAcquire(const LockParams& params) override {
        return injector_.Call("locks.TryAcquire", [&] { return inner_.TryAcquire(params); });
    }
    Result<model::Lock> Renew(const LockParams& params, std::int64_t fence) override {
        return injector_.Call("locks.Renew", [&] { return inner_.Renew(params, fence); });
    }
    Result<void> Release(const LockParams& params, std::int64_t fence) override {
        return injector_.Call("locks.Release", [&] { return inner_.Release(params, fence); });
    }
    Result<Page<model::Lock>> List(const ListParams& params) override {
        return injector_.Call("locks.List", [&] { return inner_.List(params); });
    }

  private:
    LockStore& inner_;
    Injector& injector_;
};

class FaultySettings final : public SettingStore {
  public:
    FaultySettings(SettingStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<model::Document> Put(SettingWrite write) override {
        return injector_.Call("settings.Put", [&] { return inner_.Put(write); });
    }
    Result<model::Document> Get(const std::string& key) override {
        return injector_.Call("settings.Get", [&] { return inner_.Get(key); });
    }
    Result<Page<model::Document>> List(const ListParams& params) override {
        return injector_.Call("settings.List", [&] { return inner_.List(params); });
    }
    Result<void> Delete(const std::string& key, ExpectedVersion expected,
                        const std::optional<model::AuditEvent>& audit) override {
        return injector_.Call("settings.Delete",
                              [&] { return inner_.Delete(key, expected, audit); });
    }
    Result<std::size_t> PurgeExpired(std::size_t limit) override {
        return injector_.Call("settings.PurgeExpired", [&] { return inner_.PurgeExpired(limit); });
    }

  private:
    SettingStore& inner_;
    Injector& injector_;
};

class FaultyEvents final : public EventStore {
  public:
    FaultyEvents(EventStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<void> Append(std::vector<model::AuditEvent> events) override {
        return injector_.Call("events.Append", [&] { return inner_.Append(events); });
    }
    Result<Page<model::AuditEvent>> List(const EventQuery& query) override {
        return injector_.Call("events.List", [&] { return inner_.List(query); });
    }
    Result<std::size_t> Purge(TimePoint before, std::size_t limit) override {
        return injector_.Call("events.Purge", [&] { return inner_.Purge(before, limit); });
    }

  private:
    EventStore& inner_;
    Injector& injector_;
};

class FaultyRecords final : public RecordStore {
  public:
    FaultyRecords(RecordStore& inner, Injector& injector) : inner_(inner), injector_(injector) {}

    Result<Page<model::Record>> Read(const std::string& cursor, std::size_t limit) override {
        return injector_.Call("records.Read", [&] { return inner_.Read(cursor, limit); });
    }
    Result<void> Add(const std::vector<model::Record>& records) override {
        return injector_.Call("records.Add", [&] { return inner_.Add(records); });
    }
    Result<RecordCounts> Counts() override {
        return injector_.Call("records.Counts", [&] { return inner_.Counts(); });
    }

  private:
    RecordStore& inner_;
    Injector& injector_;
};

class FaultyStore final : public Store {
  public:
    FaultyStore(Store& inner, FaultPlan& plan, std::function<void(Duration)> wait)
        : inner_(inner), injector_(plan, std::move(wait)) {}

    JobStore& jobs() override { return jobs_; }
    RunStore& runs() override { return runs_; }
    TypeStore& types() override { return types_; }
    WorkerStore& workers() override { return workers_; }
    NodeStore& nodes() override { return nodes_; }
    LockStore& locks() override { return locks_; }
    SettingStore& settings() override { return settings_; }
    EventStore& events() override { return events_; }
    RecordStore& records() override { return records_; }
    ChangeFeed& changes() override { return inner_.changes(); }
    void MakeRunsWith(RunMaker maker) override { inner_.MakeRunsWith(std::move(maker)); }

    Result<TimePoint> Now() override {
        return injector_.Call("store.Now", [&] { return inner_.Now(); });
    }
    Result<StoreInfo> Info() override {
        return injector_.Call("store.Info", [&] { return inner_.Info(); });
    }

  private:
    Store& inner_;
    Injector injector_;
    FaultyJobs jobs_{inner_.jobs(), injector_};
    FaultyRuns runs_{inner_.runs(), injector_};
    FaultyTypes types_{inner_.types(), injector_};
    FaultyWorkers workers_{inner_.workers(), injector_};
    FaultyNodes nodes_{inner_.nodes(), injector_};
    FaultyLocks locks_{inner_.locks(), injector_};
    FaultySettings settings_{inner_.settings(), injector_};
    FaultyEvents events_{inner_.events(), injector_};
    FaultyRecords records_{inner_.records(), injector_};
};

}  // namespace

std::unique_ptr<Store> MakeFaultyStore(Store& inner, FaultPlan& plan,
                                       std::function<void(Duration)> wait) {
    return std::make_unique<FaultyStore>(inner, plan, std::move(wait));
}

}  // namespace ksana::store

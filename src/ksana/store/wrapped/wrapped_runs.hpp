#pragma once

#include <utility>

#include "ksana/store/store.hpp"

namespace ksana::store {

// A hook sees every call of a wrapped store:
//
//   struct Hook {
//       static constexpr bool kRepeats = false;  // whether Call may call `body` more than once
//       // `operation`: "runs.Submit". Returns what `body` returns, or an error.
//       template <class F>
//       auto Call(std::string_view operation, const F& body) -> decltype(body());
//   };

// Hands a parameter on: moved, unless the hook may call again.
template <class Hook, class T>
decltype(auto) Pass(T& value) {
    if constexpr (Hook::kRepeats) {
        return static_cast<const T&>(value);
    } else {
        return std::move(value);
    }
}

// The roles of a wrapped store that deal with jobs and runs. Each forwards every call to `inner`
// through the hook.

template <class Hook>
class WrappedJobs final : public JobStore {
  public:
    WrappedJobs(JobStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<std::vector<Result<model::Job>>> Write(WriteJobsParams params) override {
        return hook_.Call("jobs.Write", [&] { return inner_.Write(Pass<Hook>(params)); });
    }
    Result<void> Delete(DeleteJobParams params) override {
        return hook_.Call("jobs.Delete", [&] { return inner_.Delete(Pass<Hook>(params)); });
    }
    Result<model::Job> Get(const std::string& id) override {
        return hook_.Call("jobs.Get", [&] { return inner_.Get(id); });
    }
    Result<std::vector<model::Job>> GetMany(const std::vector<std::string>& ids) override {
        return hook_.Call("jobs.GetMany", [&] { return inner_.GetMany(ids); });
    }
    Result<Page<model::Job>> List(const JobQuery& query) override {
        return hook_.Call("jobs.List", [&] { return inner_.List(query); });
    }
    Result<std::vector<std::string>> Dependants(const std::string& id) override {
        return hook_.Call("jobs.Dependants", [&] { return inner_.Dependants(id); });
    }
    Result<Counted> CountWithin(const JobFilter& filter, const CountBounds& bounds) override {
        return hook_.Call("jobs.Count", [&] { return inner_.CountWithin(filter, bounds); });
    }
    Result<std::vector<GroupSize>> Groups(const GroupQuery& query) override {
        return hook_.Call("jobs.Groups", [&] { return inner_.Groups(query); });
    }
    Result<Planned> PlanDue(const PlanParams& params, const Planner& planner) override {
        return hook_.Call("jobs.PlanDue", [&] { return inner_.PlanDue(params, planner); });
    }
    Result<Planned> PlanJobs(const PlanJobsParams& params, const Planner& planner) override {
        return hook_.Call("jobs.PlanJobs", [&] { return inner_.PlanJobs(params, planner); });
    }
    Result<JobStatistics> Statistics(const StatisticsParams& params) override {
        return hook_.Call("jobs.Statistics", [&] { return inner_.Statistics(params); });
    }
    Result<Page<model::LedgerEntry>> Ledger(const LedgerParams& params) override {
        return hook_.Call("jobs.Ledger", [&] { return inner_.Ledger(params); });
    }
    Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                               TimePoint nominal) override {
        return hook_.Call("jobs.FindFire", [&] { return inner_.FindFire(job_id, nominal); });
    }
    Result<std::vector<TimePoint>> FindFires(const std::string& job_id,
                                             const std::vector<TimePoint>& nominals) override {
        return hook_.Call("jobs.FindFires", [&] { return inner_.FindFires(job_id, nominals); });
    }

  private:
    JobStore& inner_;
    Hook& hook_;
};

template <class Hook>
class WrappedRuns final : public RunStore {
  public:
    WrappedRuns(RunStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<std::vector<Submitted>> Submit(SubmitParams params) override {
        return hook_.Call("runs.Submit", [&] { return inner_.Submit(Pass<Hook>(params)); });
    }
    Result<Exchanged> Exchange(ExchangeParams params) override {
        return hook_.Call("runs.Exchange", [&] { return inner_.Exchange(Pass<Hook>(params)); });
    }
    Result<Reaped> Reap(ReapParams params) override {
        return hook_.Call("runs.Reap", [&] { return inner_.Reap(Pass<Hook>(params)); });
    }
    Result<std::size_t> Purge(const PurgeParams& params) override {
        return hook_.Call("runs.Purge", [&] { return inner_.Purge(params); });
    }
    Result<void> Delete(DeleteRunParams params) override {
        return hook_.Call("runs.Delete", [&] { return inner_.Delete(Pass<Hook>(params)); });
    }
    Result<RunHistory> Get(const Uuid& id) override {
        return hook_.Call("runs.Get", [&] { return inner_.Get(id); });
    }
    Result<Page<model::Run>> List(const RunQuery& query) override {
        return hook_.Call("runs.List", [&] { return inner_.List(query); });
    }
    Result<Counted> CountWithin(const RunFilter& filter, const CountBounds& bounds) override {
        return hook_.Call("runs.Count", [&] { return inner_.CountWithin(filter, bounds); });
    }
    Result<std::vector<QueueDepth>> Depths() override {
        return hook_.Call("runs.Depths", [&] { return inner_.Depths(); });
    }
    Result<WakeTimes> NextWake() override {
        return hook_.Call("runs.NextWake", [&] { return inner_.NextWake(); });
    }

  private:
    RunStore& inner_;
    Hook& hook_;
};

}  // namespace ksana::store

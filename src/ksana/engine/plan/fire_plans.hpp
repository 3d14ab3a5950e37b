#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/store/job_store.hpp"

namespace ksana::engine {

// Finds the type of a run by its code; null where there is none. Thread-safe.
using FindType = std::function<std::shared_ptr<const model::RunType>(const std::string& code)>;

// The run of a job that a trigger other than a fire makes, or the basis of one that a fire makes:
// what the job says, with the policy it has now. Without an id, a nominal time and a time to start.
model::Run RunOf(const model::Job& job, const FindType& find_type,
                 const model::PolicyDefaults& defaults);

// Says what is to be written about the fires of a job (store::Planner): asks the schedule which
// there are, and model::Plan what becomes of each. Quick and without a call of the store, as it is
// asked inside a transaction. Thread-safe.
class FirePlans {
  public:
    struct Options {
        model::PolicyDefaults defaults;
        std::size_t max_fires = 100;  // of one job in one go
    };

    // What is given must outlive it.
    FirePlans(ScheduleCache& schedules, FindType find_type, Options options)
        : schedules_(schedules), find_type_(std::move(find_type)), options_(std::move(options)) {}

    // Up to now, or up to the job's next fire if that is later and `ahead` is asked for.
    store::JobPlan Plan(const model::Job& job, TimePoint now, bool ahead = false);

    // The same with a schedule that is not the stored job's: of a job that is being changed.
    store::JobPlan PlanWith(const schedule::Schedule& schedule, const model::Job& job,
                            TimePoint now, bool ahead = false) const;

    // The run of this job that a trigger other than a fire makes.
    model::Run RunOf(const model::Job& job) const;

  private:
    store::JobPlan Postponed(const model::Job& job, TimePoint now, const Error& error) const;

    ScheduleCache& schedules_;
    const FindType find_type_;
    const Options options_;
};

}  // namespace ksana::engine

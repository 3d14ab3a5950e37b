#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/engine/workers/worker_directory.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/store/job_store.hpp"

namespace ksana::engine {

// Returns the run type with a code, or null. Must be thread-safe.
using FindType = std::function<std::shared_ptr<const model::RunType>(const std::string& code)>;

// Makes a run of a job, for a trigger other than a fire or as the template of a fire's run: the
// job's settings with its current effective policy. Sets no id, nominal time or ready time.
model::Run RunOf(const model::Job& job, const FindType& find_type,
                 const model::PolicyDefaults& defaults);

// Computes what to write about the fires of a job (store::Planner): the schedule yields the fires,
// model::Plan decides what becomes of each. Fast and without store calls, because it runs inside a
// transaction. A job whose schedule does not compile is postponed and logged. Owned by Node.
// Thread-safe.
class FirePlans {
  public:
    struct Options {
        model::PolicyDefaults defaults;
        std::size_t max_fires = 100;  // of one job in one call
        // Where runs are placed and broadcasts go; null: no worker is known.
        WorkerDirectory* workers = nullptr;
    };

    // `schedules` and the object behind `find_type` must outlive the object.
    FirePlans(ScheduleCache& schedules, FindType find_type, Options options)
        : schedules_(schedules), find_type_(std::move(find_type)), options_(std::move(options)) {}

    // Plans up to now, or with `ahead` up to the job's next fire if that is later.
    store::JobPlan Plan(const model::Job& job, TimePoint now, bool ahead = false);

    // Does the same with a given schedule, for a job that is being changed.
    store::JobPlan PlanWith(const schedule::Schedule& schedule, const model::Job& job,
                            TimePoint now, bool ahead = false) const;

    // Makes a run of the job for a trigger other than a fire.
    model::Run RunOf(const model::Job& job) const;

    // Makes the runs of a broadcast: `run` becomes the first, and the others, which have it as
    // their parent, are returned. None without a live worker that serves it.
    std::optional<std::vector<model::Run>> Spread(model::Run& run, TimePoint now) const;
    // Tells the directory when the preference of a run that is about to be stored ends.
    void NotePreference(const model::Run& run) const;

  private:
    void AddFire(const model::Run& basis, bool broadcast, const model::PlannedFire& fire,
                 TimePoint now, store::JobPlan& plan) const;

    store::JobPlan Postponed(const model::Job& job, TimePoint now, const Error& error) const;

    ScheduleCache& schedules_;
    const FindType find_type_;
    const Options options_;
};

}  // namespace ksana::engine

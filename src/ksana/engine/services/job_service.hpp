#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The arguments of JobService::RunNow.
struct RunNowParams {
    std::string id;          // of the job
    std::string parameters;  // JSON object; empty: none
    bool obeys_overlap = false;
    bool obeys_dependencies = false;
    // If given, a second call with the same id returns the run of the first.
    std::optional<Uuid> run_id;
};

// A future fire, if the job does not change.
struct ComingFire {
    TimePoint nominal;
    TimePoint start_at;  // with jitter
    schedule::DstNote note;
};

// Creates, changes and deletes jobs for all APIs: validates the job, accounts for the fires that a
// change affects, and stores both with the audit event in one transaction. Owned by the server.
// Thread-safe; calls run on the caller's thread. Invalid jobs fail with kInvalidArgument; the
// store's errors are returned.
class JobService {
  public:
    // Everything passed by reference must outlive the service.
    JobService(store::Store& store, FirePlans& plans, schedule::ZoneDatabase& zones,
               FindCalendar find_calendar, UuidGenerator& ids)
        : store_(store),
          plans_(plans),
          zones_(zones),
          find_calendar_(std::move(find_calendar)),
          ids_(ids) {}

    // Creates a job. Draws an id if there is none. kAlreadyExists: the id is taken. A `once` job
    // whose time has passed is recorded as missed (K-02).
    Result<model::Job> Create(model::JobDefinition definition, const Actor& by = {});

    // Returns every fault for which Create would refuse the definition, whatever other jobs there
    // are. For a caller that has found faults of its own and reports all of them at once.
    std::vector<Problem> FaultsOf(const model::JobDefinition& definition) const;

    // Changes the definition. If `edit` fails, nothing changes. kConflict: the job is not at
    // `expected_version`. Without an expected version, repeats the edit on a version that another
    // caller stored meanwhile.
    using Edit = std::function<Result<void>(model::Job& job)>;
    Result<model::Job> Change(const std::string& id, std::optional<std::int64_t> expected_version,
                              const Edit& edit, const Actor& by = {});

    // Disables and enables a job. Fires of the pause are recorded as skipped when the job resumes.
    Result<model::Job> Pause(const std::string& id, const std::string& reason,
                             const Actor& by = {});
    Result<model::Job> Resume(const std::string& id, const Actor& by = {});

    Result<void> Delete(const std::string& id, std::optional<std::int64_t> expected_version,
                        const Actor& by = {});

    // Returns at most `count` nominal fires after now, whether or not the job is paused.
    Result<std::vector<ComingFire>> NextFires(const model::Job& job, std::size_t count) const;

    // Creates a run outside the schedule (K-06), also while the job is paused or another run is in
    // flight.
    Result<model::Run> RunNow(const RunNowParams& params, const Actor& by = {});

  private:
    Result<schedule::Schedule> Check(const model::Job& job) const;
    Result<std::optional<store::JobPlan>> Replan(const model::Job& before, const model::Job& after,
                                                 const schedule::Schedule& schedule, TimePoint now);
    std::shared_ptr<const schedule::CalendarIndex> CalendarOf(const model::Job& job) const;
    Result<model::Job> Settled(Result<model::Job> written,
                               const std::shared_ptr<const schedule::CalendarIndex>& calendar);
    Result<bool> IsAccountedFor(const std::string& id, TimePoint fire);
    Result<model::Job> Write(store::JobWrite write, TimePoint now);

    store::Store& store_;
    FirePlans& plans_;
    schedule::ZoneDatabase& zones_;
    const FindCalendar find_calendar_;
    UuidGenerator& ids_;
    // Locks by a hash of the job id. They serialize the changes of one job through this service, so
    // that only the planner and other nodes can conflict.
    std::array<Mutex, 64> changing_;
};

}  // namespace ksana::engine

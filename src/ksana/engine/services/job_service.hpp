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

struct RunNowParams {
    std::string id;          // of the job
    std::string parameters;  // JSON object; empty: none
    bool obeys_overlap = false;
    // Where it is given, a second call with the same one finds the run of the first.
    std::optional<Uuid> run_id;
};

// A fire that will come if nobody changes the job.
struct ComingFire {
    TimePoint nominal;
    TimePoint start_at;  // with its jitter
    schedule::DstNote note;
};

// What people do with jobs, whichever door they come through: checks the job, accounts for the
// fires that a change touches, and stores both in one transaction, with the audit event of who did
// it. Thread-safe.
class JobService {
  public:
    // `store`, `plans`, `zones` and `ids` must outlive it. `kinds` are the actions that this
    // process, or the agents that it serves, carry out: jobs with another one are refused.
    JobService(store::Store& store, FirePlans& plans, schedule::ZoneDatabase& zones,
               FindCalendar find_calendar, UuidGenerator& ids,
               std::vector<model::ActionKind> kinds = {model::ActionKind::kHttp,
                                                       model::ActionKind::kQueue})
        : store_(store),
          plans_(plans),
          zones_(zones),
          find_calendar_(std::move(find_calendar)),
          ids_(ids),
          kinds_(std::move(kinds)) {}

    // An id is drawn where there is none. kAlreadyExists: the id is taken. A `once` whose time has
    // passed is recorded as missed (K-02).
    Result<model::Job> Create(model::JobDefinition definition, const Actor& by = {});

    // Changes the definition. An edit that fails leaves everything as it is. Without an expected
    // version the edit is made again on what somebody else has stored meanwhile.
    using Edit = std::function<Result<void>(model::Job& job)>;
    Result<model::Job> Change(const std::string& id, std::optional<std::int64_t> expected_version,
                              const Edit& edit, const Actor& by = {});

    // Fires of the time in between are accounted for as skipped when the job goes on.
    Result<model::Job> Pause(const std::string& id, const std::string& reason,
                             const Actor& by = {});
    Result<model::Job> Resume(const std::string& id, const Actor& by = {});

    Result<void> Delete(const std::string& id, std::optional<std::int64_t> expected_version,
                        const Actor& by = {});

    // The next nominal fires after now, whether the job is paused or not; at most so many.
    Result<std::vector<ComingFire>> NextFires(const model::Job& job, std::size_t count) const;

    // A run beside the schedule (K-06): also while the job is paused or another run is under way.
    // kConflict: the action of the job is not carried out by this server.
    Result<model::Run> RunNow(const RunNowParams& params, const Actor& by = {});

  private:
    Result<schedule::Schedule> Check(const model::Job& job,
                                     std::vector<Problem> unsupported = {}) const;
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
    const std::vector<model::ActionKind> kinds_;
    // By a hash of the job's id: changes of one job through this service come one after the other,
    // so that only the planner and other nodes can be in each other's way.
    std::array<Mutex, 64> changing_;
};

}  // namespace ksana::engine

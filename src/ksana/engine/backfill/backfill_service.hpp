#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/backfill/backfill_repository.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/model/job/backfill.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The arguments of Preview and Start. Empty `max` and `per_minute` mean the defaults of
// BackfillService.
struct BackfillParams {
    std::string job_id;
    TimePoint from{};  // fires at or after this time
    TimePoint to{};    // and before this time
    std::optional<std::int64_t> max;
    std::optional<std::int64_t> per_minute;
    model::BackfillOverlap overlap = model::BackfillOverlap::kQueue;
    std::string parameters;  // JSON object; empty: none
    // If given, a second call with the same id returns the backfill of the first.
    std::optional<Uuid> id;
};

// The effect that a backfill would have.
struct BackfillPreview {
    std::vector<TimePoint> fires;
    std::int64_t already_there = 0;  // fires that already have a run
};

// Previews, starts, lists and cancels backfills for all APIs; the Backfiller makes their runs.
// Owned by the server. Thread-safe; calls run on the caller's thread and return the store's errors.
class BackfillService {
  public:
    static constexpr std::int64_t kDefaultMax = 10'000;
    static constexpr std::int64_t kHighestMax = 50'000;
    static constexpr std::int64_t kDefaultPerMinute = 60;
    static constexpr std::int64_t kHighestPerMinute = 6'000;

    // Everything passed by reference must outlive the service.
    BackfillService(store::Store& store, ScheduleCache& schedules, UuidGenerator& ids)
        : store_(store), repository_(store), schedules_(schedules), ids_(ids) {}

    // Returns the fires of the job's current schedule in the range, up to where the job was
    // planned: later fires belong to the planner. Changes nothing. kInvalidArgument lists the
    // problems of the wish, such as too many fires.
    Result<BackfillPreview> Preview(const BackfillParams& wish);
    // Stores a backfill of the fires that the schedule has now; later changes of the schedule do
    // not affect it. kExhausted: too many backfills are active.
    Result<model::Backfill> Start(const BackfillParams& wish, const Actor& by);

    Result<model::Backfill> Get(const Uuid& id);
    Result<store::Page<model::Backfill>> List(std::size_t limit, const std::string& cursor);
    // Stops further submissions and cancels the runs that have not started; running ones finish.
    // Does nothing if the backfill is already cancelled. kConflict: it is finished.
    Result<model::Backfill> Cancel(const Uuid& id, const Actor& by);

  private:
    Result<std::vector<TimePoint>> FiresOf(const model::Job& job, const BackfillParams& wish,
                                           TimePoint now);

    store::Store& store_;
    BackfillRepository repository_;
    ScheduleCache& schedules_;
    UuidGenerator& ids_;
};

}  // namespace ksana::engine

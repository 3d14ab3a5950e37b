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

struct BackfillWish {
    std::string job_id;
    TimePoint from{};  // fires at or after
    TimePoint to{};    // and before
    std::optional<std::int64_t> max;
    std::optional<std::int64_t> per_minute;
    model::BackfillOverlap overlap = model::BackfillOverlap::kQueue;
    std::string parameters;  // JSON object; empty: none
    // Where it is given, a second call with the same one finds the backfill of the first.
    std::optional<Uuid> id;
};

// What a backfill would do.
struct BackfillPreview {
    std::vector<TimePoint> fires;
    std::int64_t already_there = 0;  // of them: those that have a run
};

// What people do with backfills; the Backfiller does the rest. Thread-safe.
class BackfillService {
  public:
    static constexpr std::int64_t kDefaultMax = 10'000;
    static constexpr std::int64_t kHighestMax = 50'000;
    static constexpr std::int64_t kDefaultPerMinute = 60;
    static constexpr std::int64_t kHighestPerMinute = 6'000;

    // What is given must outlive it.
    BackfillService(store::Store& store, ScheduleCache& schedules, UuidGenerator& ids)
        : store_(store), shelf_(store), schedules_(schedules), ids_(ids) {}

    // The fires as the job's schedule has them now, up to where it was planned: what comes after
    // that is the planner's. Changes nothing. kInvalidArgument names what is wrong with the wish,
    // too many fires among it.
    Result<BackfillPreview> Preview(const BackfillWish& wish);
    // The fires are those of this moment, whatever becomes of the schedule.
    Result<model::Backfill> Start(const BackfillWish& wish, const Actor& by);

    Result<model::Backfill> Get(const Uuid& id);
    Result<store::Page<model::Backfill>> List(std::size_t limit, const std::string& cursor);
    // Nothing more is submitted, and what has not started is cancelled; what runs is left to end.
    // kConflict: it is over.
    Result<model::Backfill> Cancel(const Uuid& id, const Actor& by);

  private:
    Result<std::vector<TimePoint>> FiresOf(const model::Job& job, const BackfillWish& wish,
                                           TimePoint now);

    store::Store& store_;
    BackfillRepository shelf_;
    ScheduleCache& schedules_;
    UuidGenerator& ids_;
};

}  // namespace ksana::engine

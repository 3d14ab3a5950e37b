#include "ksana/engine/backfill/backfill_service.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/engine/backfill/backfiller.hpp"
#include "ksana/model/audit_event.hpp"

namespace ksana::engine {
namespace {

using model::Backfill;
using model::BackfillState;

// The resolution of times.
constexpr Duration kTick{1};
// The number of conflicting writes after which a cancellation fails.
constexpr int kMaxTries = 20;
constexpr std::int64_t kLongestMinutes = 30 * 24 * 60;

void CheckRange(std::vector<Problem>& problems, const char* path,
                const std::optional<std::int64_t>& value, std::int64_t most) {
    if (!value || (*value >= 1 && *value <= most)) return;
    problems.push_back({path, fmt::format("must be 1 to {}", most), "out_of_range", {}});
}

Result<void> CheckWish(const BackfillParams& wish, TimePoint now) {
    std::vector<Problem> problems;
    CheckRange(problems, "/max", wish.max, BackfillService::kHighestMax);
    CheckRange(problems, "/per_minute", wish.per_minute, BackfillService::kHighestPerMinute);
    if (wish.to <= wish.from) problems.push_back({"/to", "must be after from"});
    if (wish.to > now) {
        problems.push_back(
            {"/to", "must not be in the future: what comes fires by itself", "out_of_range", {}});
    }
    if (problems.empty()) return {};
    return Error(std::move(problems));
}

Error Problem1(const char* path, std::string message, std::string_view code) {
    return Error(std::vector<Problem>{{path, std::move(message), code, {}}});
}

model::AuditEvent Audit(const Backfill& backfill, std::string_view action, const Actor& by) {
    return AuditOf(by, {.action = action,
                        .resource_type = model::audit::kBackfill,
                        .resource_id = backfill.id.ToString(),
                        .tenant = backfill.tenant,
                        .data = codec::AuditDataToJson({{model::audit::kJobId, backfill.job_id},
                                                        {"fires", std::to_string(backfill.count)},
                                                        {"request_id", by.request_id}})});
}

}  // namespace

Result<std::vector<TimePoint>> BackfillService::FiresOf(const model::Job& job,
                                                        const BackfillParams& wish, TimePoint now) {
    KSANA_TRY_VOID(CheckWish(wish, now));
    KSANA_TRY(const schedule::Schedule schedule, schedules_.Of(job));
    if (!schedule.HasTimes()) {
        return Problem1(
            "/job_id", "the job fires after other jobs and has no fires of its own: backfill those",
            "not_supported");
    }
    TimePoint last = wish.to - kTick;
    if (job.enabled) last = std::min(last, job.state.planned_until.value_or(job.state.created_at));
    const TimePoint before = wish.from - kTick;
    if (last <= before) return std::vector<TimePoint>();
    const std::int64_t max = wish.max.value_or(kDefaultMax);
    const std::int64_t count = schedule.Count(before, last);
    if (count > max) {
        return Problem1(
            "/to", fmt::format("there are {} fires between from and to, and max is {}", count, max),
            "out_of_range");
    }
    return schedule.Fires(before, last, static_cast<std::size_t>(count));
}

Result<BackfillPreview> BackfillService::Preview(const BackfillParams& wish) {
    KSANA_TRY(const model::Job job, store_.jobs().Get(wish.job_id));
    KSANA_TRY(const TimePoint now, store_.Now());
    BackfillPreview preview;
    KSANA_TRY(preview.fires, FiresOf(job, wish, now));
    constexpr auto kPiece = static_cast<std::ptrdiff_t>(store::kMaxBatch);
    for (auto begin = preview.fires.begin(); begin != preview.fires.end();) {
        const auto end = begin + std::min(kPiece, preview.fires.end() - begin);
        KSANA_TRY(const auto there, store_.jobs().FindFires(wish.job_id, {begin, end}));
        preview.already_there += std::ssize(there);
        begin = end;
    }
    return preview;
}

Result<Backfill> BackfillService::Start(const BackfillParams& wish, const Actor& by) {
    if (wish.id) {
        auto there = Get(*wish.id);
        if (there || there.error().code != Code::kNotFound) return there;
    }
    KSANA_TRY(const model::Job job, store_.jobs().Get(wish.job_id));
    if (job.placement.broadcast) {
        return Error(Code::kConflict,
                     "the job is a broadcast: its fires were for the workers of their time");
    }
    KSANA_TRY(const TimePoint now, store_.Now());
    KSANA_TRY(const std::vector<TimePoint> fires, FiresOf(job, wish, now));
    if (fires.empty()) {
        return Problem1("/from", "there is no fire between from and to", "out_of_range");
    }
    Backfill backfill;
    backfill.id = wish.id ? *wish.id : ids_.Next();
    backfill.job_id = job.id;
    backfill.tenant = job.tenant;
    backfill.from = wish.from;
    backfill.to = wish.to;
    backfill.overlap = wish.overlap;
    backfill.count = std::ssize(fires);
    backfill.per_minute = static_cast<std::int32_t>(wish.per_minute.value_or(kDefaultPerMinute));
    backfill.parameters = wish.parameters;
    backfill.due_at = now;
    backfill.created_at = now;
    backfill.created_by = by.user;
    if (backfill.count > kLongestMinutes * backfill.per_minute) {
        return Problem1("/per_minute", "too few: it would take more than 30 days", "out_of_range");
    }
    KSANA_TRY(const auto active, repository_.Marked(Backfiller::kMaxActive));
    if (active.size() >= Backfiller::kMaxActive) {
        return Error(Code::kExhausted,
                     fmt::format("there are {} backfills under way; wait for one to end, or cancel "
                                 "it",
                                 active.size()));
    }
    KSANA_TRY_VOID(repository_.Add(backfill, fires, Audit(backfill, model::audit::kCreated, by)));
    return backfill;
}

Result<Backfill> BackfillService::Get(const Uuid& id) {
    KSANA_TRY(BackfillRepository::Kept kept, repository_.Get(id));
    return Counted(store_.runs(), std::move(kept.backfill));
}

Result<store::Page<Backfill>> BackfillService::List(std::size_t limit, const std::string& cursor) {
    KSANA_TRY(auto page, repository_.List(limit, cursor));
    for (Backfill& backfill : page.items) {
        if (backfill.state != BackfillState::kRunning) continue;
        KSANA_TRY(backfill, Counted(store_.runs(), std::move(backfill)));
    }
    return page;
}

Result<Backfill> BackfillService::Cancel(const Uuid& id, const Actor& by) {
    for (int tries = 1;; ++tries) {
        KSANA_TRY(BackfillRepository::Kept kept, repository_.Get(id));
        Backfill& backfill = kept.backfill;
        if (backfill.state == BackfillState::kFinished) {
            return Error(Code::kConflict, "the backfill is finished");
        }
        if (backfill.state == BackfillState::kCancelled) return Get(id);
        KSANA_TRY(const TimePoint now, store_.Now());
        backfill.state = BackfillState::kCancelled;
        backfill.ended_at = now;
        auto put = repository_.Put(kept, Audit(backfill, model::audit::kCancelled, by));
        if (put) break;
        if (put.error().code != Code::kConflict || tries >= kMaxTries) return put.error();
    }
    KSANA_TRY_VOID(CancelUnstarted(store_.runs(), id));
    return Get(id);
}

}  // namespace ksana::engine

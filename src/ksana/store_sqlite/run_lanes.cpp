#include "ksana/store_sqlite/run_lanes.hpp"

#include "ksana/model/claim_order.hpp"
#include "ksana/model/decide.hpp"
#include "ksana/store_kit/rows.hpp"

namespace ksana::store_sqlite {

Place PlaceOf(const model::Run& run) {
    const model::RunStatus& status = run.status;
    const auto lane = static_cast<std::int64_t>(status.state);
    const auto micros = [](const std::optional<TimePoint>& time) {
        return time ? time->time_since_epoch().count() : store_kit::kNoTime;
    };
    if (model::IsFinal(status.state)) return {lane, "", micros(status.finished_at)};
    if (status.state == model::RunState::kRunning) return {lane, "", micros(model::ExpiresAt(run))};
    if (status.state != model::RunState::kQueued) return {lane, "", micros(status.ready_at)};
    if (status.blocked) return {kBlockedLane, run.job_id, micros(status.ready_at)};
    return {ReadyLane(run.kind), run.type, model::ClaimRank(status.ready_at, run.priority)};
}

}  // namespace ksana::store_sqlite

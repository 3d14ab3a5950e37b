#include "ksana/engine/dispatch/reaper.hpp"

#include "ksana/base/log/log.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::engine {

Result<Reaper::Answer> Reaper::RunOnce(const std::vector<std::string>& lost_owners) {
    KSANA_TRY(store::Reaped reaped, store_.runs().Reap({.now = {},
                                                        .lost_owners = lost_owners,
                                                        .limit = options_.batch,
                                                        .follow_up = options_.follow_up}));
    for (const model::Run& run : reaped.runs) {
        Log(LogLevel::kWarn, "a run was taken from its owner",
            {{"run_id", run.id.ToString()},
             {"trace_id", model::TraceIdOf(run)},
             {"span_id", model::AttemptSpanText(run)},
             {"job_id", run.job_id},
             {"owner", run.status.owner},
             {"state", model::NameOf(run.status.state)},
             {"error", run.status.last_error}});
    }
    Answer answer{.step = {.next = {}, .within = {}, .again = reaped.more},
                  .runs = std::move(reaped.runs)};
    if (answer.step.again) return answer;
    KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
    if (times.expiry) answer.step.next = OnThisNode(*times.expiry, times.now, clock_);
    return answer;
}

}  // namespace ksana::engine

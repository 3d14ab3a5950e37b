#include "ksana/engine/retention.hpp"

#include "ksana/base/log.hpp"

namespace ksana::engine {
namespace {

constexpr Duration kJump = std::chrono::hours(1);

}  // namespace

Result<Retention::Answer> Retention::RunOnce() {
    Answer answer;
    const SteadyPoint steady = clock_.SteadyNow();
    if (jumps_.Take() > kJump) {
        Log(LogLevel::kWarn, "the wall clock was set forward; nothing is deleted for a while");
        not_before_ = steady + options_.distrust;
    }
    if (not_before_ && steady < *not_before_) {
        answer.step.NotAfter(options_.rest);
        return answer;
    }
    not_before_.reset();
    KSANA_TRY_VOID(PurgeOld(answer));
    const bool more = answer.runs >= options_.batch || answer.events >= options_.batch ||
                      answer.documents >= options_.batch;
    answer.step.NotAfter(more ? options_.pause : options_.rest);
    return answer;
}

Result<void> Retention::PurgeOld(Answer& answer) {
    KSANA_TRY(const TimePoint now, store_.Now());
    if (options_.keep > Duration::zero()) {
        KSANA_TRY(answer.runs, store_.runs().Purge({.finished_before = now - options_.keep,
                                                    .states = model::kAllStates,
                                                    .limit = options_.batch}));
    }
    if (options_.keep_events > Duration::zero()) {
        KSANA_TRY(answer.events, store_.events().Purge(now - options_.keep_events, options_.batch));
    }
    KSANA_TRY(answer.documents, store_.settings().PurgeExpired(options_.batch));
    return {};
}

}  // namespace ksana::engine

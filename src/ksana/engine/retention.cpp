#include "ksana/engine/retention.hpp"

#include "ksana/base/log.hpp"

namespace ksana::engine {
namespace {

constexpr Duration kJump = std::chrono::hours(1);

}  // namespace

Result<Retention::Answer> Retention::RunOnce() {
    Answer answer;
    if (options_.keep <= Duration::zero()) return answer;
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
    KSANA_TRY(const TimePoint now, store_.Now());
    KSANA_TRY(answer.runs, store_.runs().Purge({.finished_before = now - options_.keep,
                                                .states = model::kAllStates,
                                                .limit = options_.batch}));
    answer.step.NotAfter(answer.runs < options_.batch ? options_.rest : options_.pause);
    return answer;
}

}  // namespace ksana::engine

#include "ksana/engine/retention.hpp"

namespace ksana::engine {

Result<Retention::Answer> Retention::RunOnce() {
    Answer answer;
    if (options_.keep <= Duration::zero()) return answer;
    KSANA_TRY(const TimePoint now, store_.Now());
    KSANA_TRY(answer.runs, store_.runs().Purge({.finished_before = now - options_.keep,
                                                .states = model::kAllStates,
                                                .limit = options_.batch}));
    answer.step.NotAfter(answer.runs < options_.batch ? options_.rest : options_.pause);
    return answer;
}

}  // namespace ksana::engine

#include "ksana/engine/retention/retention.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

constexpr Duration kLongJump = std::chrono::hours(1);

// The pause is halved after every kPatience full batches, up to kMostHalvings times.
constexpr std::size_t kPatience = 100;
constexpr std::size_t kMostHalvings = 6;
// Full batches shorten the pause to no less than this many times the duration of a batch.
constexpr int kShareOfOthers = 2;

}  // namespace

bool Retention::TrustsTheClock() {
    const SteadyPoint steady = clock_.SteadyNow();
    if (jumps_.Take() > kLongJump) {
        Log(LogLevel::kWarn, "the wall clock was set forward; nothing is deleted for a while");
        not_before_ = steady + options_.distrust;
    }
    if (not_before_ && steady < *not_before_) return false;
    not_before_.reset();
    return true;
}

Result<Retention::Answer> Retention::RunOnce() {
    Answer answer;
    const SteadyPoint began = clock_.SteadyNow();
    if (!TrustsTheClock()) {
        answer.step.NotAfter(options_.rest);
        return answer;
    }
    KSANA_TRY_VOID(PurgeOld(answer));
    bool more = answer.runs >= options_.batch || answer.events >= options_.batch ||
                answer.documents >= options_.batch;
    // Runs deleted for their age make room as well.
    if (answer.runs < options_.batch) {
        KSANA_TRY(const HistoryTrim::Answer trimmed, trim_.RunOnce());
        answer.runs += trimmed.runs;
        more = more || trimmed.more;
    }
    full_ = more ? full_ + 1 : 0;
    const auto took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - began);
    answer.step.NotAfter(more ? Pause(took) : Rest());
    return answer;
}

// Shortens the pause while batches stay full, but not below twice the duration of the last batch.
// Never exceeds options_.pause.
Duration Retention::Pause(Duration took) const {
    const std::size_t halvings = std::min(full_ / kPatience, kMostHalvings);
    const Duration shortened = options_.pause / (std::int64_t{1} << halvings);
    return std::min(options_.pause, std::max(shortened, took * kShareOfOthers));
}

// A short retention time shortens the rest, so that expired runs do not stay for a minute.
Duration Retention::Rest() const {
    Duration rest = options_.rest;
    for (const Duration keep : {options_.keep, options_.keep_events}) {
        if (keep > Duration::zero()) rest = std::min(rest, std::max(keep, options_.pause));
    }
    return rest;
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

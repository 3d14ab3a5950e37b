#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/engine/limits/limits.hpp"

namespace ksana::engine {
namespace {

using model::LimitKind;
using model::TargetHealth;
using std::chrono::milliseconds;

// The most failing destinations that are tracked. Further ones have no breaker.
constexpr std::size_t kMaxHosts = 10'000;

// Attempts that an open breaker sent away come back at this interval, at most kMaxReturns of them
// one by one.
constexpr Duration kBetweenReturns = milliseconds(10);
constexpr std::int64_t kMaxReturns = 3'000;

}  // namespace

std::optional<LimitTracker::Answer> LimitTracker::AskBreaker(const std::string& host,
                                                             SteadyPoint now) {
    if (host.empty() || hosts_.empty()) return std::nullopt;
    const auto found = hosts_.find(host);
    if (found == hosts_.end() || found->second.breaker.Allows(now)) return std::nullopt;
    Host& known = found->second;
    Answer answer;
    answer.key = LimitKey(LimitKind::kHost, host);
    answer.breaker = true;
    if (known.breaker.state() == BreakerState::kHalfOpen) {
        answer.kind = Answer::Kind::kWaits;
        return answer;
    }
    answer.kind = Answer::Kind::kLater;
    answer.after = std::chrono::ceil<Duration>(known.breaker.retry_at() - now) +
                   kBetweenReturns * std::min(known.given_back++, kMaxReturns);
    return answer;
}

std::optional<Duration> LimitTracker::Tell(const Sign& sign, SteadyPoint now) {
    if (sign.host.empty() || options_.breaker.failures <= 0) return std::nullopt;
    const MutexLock lock(mutex_);
    auto found = hosts_.find(sign.host);
    if (found == hosts_.end()) {
        if (sign.sign != TargetHealth::kDown || hosts_.size() >= kMaxHosts) return std::nullopt;
        found =
            hosts_.emplace(sign.host, Host{Breaker(options_.breaker, options_.name + sign.host)})
                .first;
        NoteActive();
    }
    Breaker& breaker = found->second.breaker;
    const BreakerState before = breaker.state();
    std::optional<Duration> next_probe;
    if (sign.sign == TargetHealth::kDown) {
        breaker.Failed(sign.probe, now, sign.retry_after);
        const bool opened = breaker.state() == BreakerState::kOpen && before != breaker.state();
        if (opened) found->second.given_back = 0;
        if (opened && sign.probe)
            next_probe = std::chrono::ceil<Duration>(breaker.retry_at() - now);
    } else if (sign.sign == TargetHealth::kAnswered) {
        breaker.Answered(sign.began);
    } else if (sign.probe) {
        breaker.Undecided(now);
    }
    const BreakerState after = breaker.state();
    if (after == BreakerState::kClosed && breaker.failures() == 0) {
        hosts_.erase(found);
        NoteActive();
    }
    // A failed probe opens the breaker again, which is not logged.
    if (before == BreakerState::kClosed && after == BreakerState::kOpen) {
        Log(LogLevel::kWarn, "a destination is down; runs that call it wait",
            {{"host", sign.host}});
    } else if (before != BreakerState::kClosed && after == BreakerState::kClosed) {
        Log(LogLevel::kInfo, "a destination answers again", {{"host", sign.host}});
    }
    return next_probe;
}

}  // namespace ksana::engine

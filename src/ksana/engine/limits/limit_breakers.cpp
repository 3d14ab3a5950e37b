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

// How long an attempt stays away from an open breaker. Not longer than the longest pause and its
// jitter even if the breaker is open for longer, because it may be reset meanwhile.
Duration LimitTracker::Away(const Breaker& breaker, SteadyPoint now) const {
    const auto left = std::chrono::ceil<Duration>(breaker.retry_at() - now);
    const Duration longest = options_.breaker.longest_pause;
    return std::min(left, longest + longest / kJitterPart + Duration(1));
}

bool LimitTracker::BeginCall(const std::string& name) {
    if (name.empty() || hosts_.empty()) return false;
    const auto found = hosts_.find(name);
    return found != hosts_.end() && found->second.breaker.Begin();
}

std::optional<LimitTracker::Answer> LimitTracker::AskBreaker(const std::string& name,
                                                             SteadyPoint now) {
    if (name.empty() || hosts_.empty()) return std::nullopt;
    const auto found = hosts_.find(name);
    if (found == hosts_.end() || found->second.breaker.Allows(now)) return std::nullopt;
    Host& known = found->second;
    Answer answer;
    answer.key = LimitKey(LimitKind::kHost, name);
    answer.breaker = true;
    if (known.breaker.state() == BreakerState::kHalfOpen) {
        answer.kind = Answer::Kind::kWaits;
        return answer;
    }
    answer.kind = Answer::Kind::kLater;
    answer.after =
        Away(known.breaker, now) + kBetweenReturns * std::min(known.given_back++, kMaxReturns);
    return answer;
}

std::optional<Duration> LimitTracker::Tell(const Sign& sign, SteadyPoint now) {
    if (sign.subject.host.empty() || options_.breaker.failures <= 0) return std::nullopt;
    const MutexLock lock(mutex_);
    // An answer of a path, whatever it is, shows that the host is there; a host that is not there
    // says nothing about the path.
    const bool refused = sign.sign == TargetHealth::kUnavailable;
    const bool unreached = sign.sign == TargetHealth::kDown;
    const auto of_host = TellOne({.name = sign.subject.host,
                                  .sign = refused ? TargetHealth::kAnswered : sign.sign,
                                  .began = sign.began,
                                  .probe = sign.probe,
                                  .retry_after = {}},
                                 now);
    const auto of_path = TellOne({.name = sign.subject.path,
                                  .sign = refused     ? TargetHealth::kDown
                                          : unreached ? TargetHealth::kNone
                                                      : sign.sign,
                                  .began = sign.began,
                                  .probe = sign.path_probe,
                                  .retry_after = sign.retry_after},
                                 now);
    return of_host ? of_host : of_path;
}

bool LimitTracker::ResetBreakers(std::string_view host) {
    const auto concerns = [host](std::string_view name) {
        const std::string_view authority = name.substr(0, name.find('/'));
        return authority == host || authority.substr(0, authority.rfind(':')) == host;
    };
    const MutexLock lock(mutex_);
    const auto reset = std::erase_if(hosts_, [&](const auto& one) { return concerns(one.first); });
    NoteActive();
    return reset > 0;
}

std::optional<Duration> LimitTracker::TellOne(const NamedSign& sign, SteadyPoint now) {
    if (sign.name.empty()) return std::nullopt;
    auto found = hosts_.find(sign.name);
    if (found == hosts_.end()) {
        if (sign.sign != TargetHealth::kDown || hosts_.size() >= kMaxHosts) return std::nullopt;
        found =
            hosts_.emplace(sign.name, Host{Breaker(options_.breaker, options_.name + sign.name)})
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
        if (opened && sign.probe) next_probe = Away(breaker, now);
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
            {{"host", sign.name}});
    } else if (before != BreakerState::kClosed && after == BreakerState::kClosed) {
        Log(LogLevel::kInfo, "a destination answers again", {{"host", sign.name}});
    }
    return next_probe;
}

}  // namespace ksana::engine

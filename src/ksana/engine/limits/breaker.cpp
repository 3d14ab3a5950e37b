#include "ksana/engine/limits/breaker.hpp"

#include <algorithm>
#include <limits>

#include "ksana/base/ids/hash.hpp"

namespace ksana::engine {
bool Breaker::Begin() {
    if (state_ != BreakerState::kOpen) return false;
    state_ = BreakerState::kHalfOpen;
    return true;
}

void Breaker::Failed(bool probe, SteadyPoint now, std::optional<Duration> retry_after) {
    failures_ = std::min(failures_, std::numeric_limits<int>::max() - 1) + 1;
    if (probe && state_ == BreakerState::kHalfOpen) return Open(now, retry_after);
    // Calls that were in flight when the breaker opened count as failures but change nothing else.
    if (state_ != BreakerState::kClosed || options_.failures <= 0) return;
    if (failures_ >= options_.failures) Open(now, retry_after);
}

void Breaker::Open(SteadyPoint now, std::optional<Duration> retry_after) {
    Duration pause = std::max(options_.first_pause, Duration(1));
    for (int n = 0; n < pauses_ && pause < options_.longest_pause; ++n) pause *= 2;
    pause = std::min(pause, std::max(options_.longest_pause, Duration(1)));
    const auto span = static_cast<std::uint64_t>(pause.count() / kJitterPart);
    pause += Duration(static_cast<Duration::rep>(HashText(name_, pauses_) % (span + 1)));
    if (retry_after) pause = std::max(pause, std::min(*retry_after, kLongestWish));
    state_ = BreakerState::kOpen;
    opened_at_ = now;
    retry_at_ = now + pause;
    ++pauses_;
}

void Breaker::Answered(SteadyPoint began) {
    if (state_ != BreakerState::kClosed && began < opened_at_) return;
    state_ = BreakerState::kClosed;
    failures_ = 0;
    pauses_ = 0;
}

void Breaker::Undecided(SteadyPoint now) {
    if (state_ != BreakerState::kHalfOpen) return;
    state_ = BreakerState::kOpen;
    retry_at_ = now;
}

}  // namespace ksana::engine

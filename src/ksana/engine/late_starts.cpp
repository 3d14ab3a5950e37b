#include "ksana/engine/late_starts.hpp"

#include <algorithm>
#include <limits>

namespace ksana::engine {

LateStarts::LateStarts(std::size_t rate)
    : rate_(static_cast<double>(rate)), tokens_(static_cast<double>(rate)) {}

std::size_t LateStarts::Allowed(SteadyPoint now) {
    if (rate_ <= 0) return std::numeric_limits<std::size_t>::max();
    Fill(now);
    return tokens_ < 1 ? 0 : static_cast<std::size_t>(tokens_);
}

// May go below zero: what was started is known only afterwards.
void LateStarts::Spend(std::size_t starts) {
    if (rate_ > 0) tokens_ -= static_cast<double>(starts);
}

Duration LateStarts::UntilOne(SteadyPoint now) {
    if (Allowed(now) > 0) return Duration::zero();
    const double seconds = (1 - tokens_) / rate_;
    return std::chrono::ceil<Duration>(std::chrono::duration<double>(seconds));
}

void LateStarts::Fill(SteadyPoint now) {
    const std::chrono::duration<double> passed = now - filled_at_;
    if (passed.count() > 0) tokens_ = std::min(rate_, tokens_ + passed.count() * rate_);
    filled_at_ = now;
}

}  // namespace ksana::engine

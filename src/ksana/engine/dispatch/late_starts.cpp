#include "ksana/engine/dispatch/late_starts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ksana::engine {
namespace {

constexpr double kHighestRate = 1e6;

double Seconds(SteadyPoint::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

LateStarts::LateStarts(std::size_t rate)
    : first_rate_(static_cast<double>(rate)), rate_(first_rate_), tokens_(first_rate_) {}

std::size_t LateStarts::Allowed(SteadyPoint now) {
    if (first_rate_ <= 0) return std::numeric_limits<std::size_t>::max();
    Fill(now);
    if (tokens_ >= 1) return static_cast<std::size_t>(tokens_);
    used_up_ = true;
    return 0;
}

bool LateStarts::UsedUp(SteadyPoint now) const {
    if (first_rate_ <= 0) return false;
    return tokens_ + std::max(0.0, Seconds(now - filled_at_)) * rate_ < 1;
}

// `tokens_` may become negative: the number of late runs is known only after their claim.
void LateStarts::Spend(std::size_t starts) {
    if (first_rate_ <= 0 || starts == 0) return;
    tokens_ -= static_cast<double>(starts);
    last_late_ = filled_at_;
    used_up_ = used_up_ || tokens_ < 1;
}

Duration LateStarts::UntilOne(SteadyPoint now) {
    if (Allowed(now) > 0) return Duration::zero();
    return std::chrono::ceil<Duration>(std::chrono::duration<double>((1 - tokens_) / rate_));
}

void LateStarts::Fill(SteadyPoint now) {
    const double passed = std::max(0.0, Seconds(now - filled_at_));
    if (used_up_) {
        const double doublings = passed / std::chrono::duration<double>(kDoubling).count();
        rate_ = std::min(kHighestRate, rate_ * std::exp2(std::min(doublings, 1.0)));
    } else if (now - last_late_ > kCalm) {
        rate_ = first_rate_;
    }
    tokens_ = std::min(rate_, tokens_ + passed * rate_);
    used_up_ = false;
    filled_at_ = now;
}

}  // namespace ksana::engine

#pragma once

#include <algorithm>
#include <chrono>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/limit.hpp"

namespace ksana::engine {

// A token bucket that refills evenly, one token every per/count, and is full at first. It stores
// the time at which it will be full again instead of a token count, so rounding errors do not
// accumulate. Not thread-safe: LimitTracker guards it with its mutex.
class TokenBucket {
  public:
    explicit TokenBucket(const model::Rate& rate) { Reshape(rate); }

    // Changes the rate. Taken tokens stay taken.
    void Reshape(const model::Rate& rate) {
        const std::chrono::nanoseconds per = rate.per;
        const std::int64_t count = std::max<std::int64_t>(1, rate.count);
        interval_ = std::chrono::nanoseconds((per.count() + count - 1) / count);
        burst_ =
            std::max(interval_ * (std::max<std::int64_t>(1, rate.burst) - 1), kGrain - interval_);
    }

    // Changes the rate to that of another share of a limit. The number of tokens that are missing
    // stays the same, so that no share gains tokens from a change.
    void Rescale(const model::Rate& rate, SteadyPoint now) {
        const double missing = Missing(now);
        Reshape(rate);
        full_at_ = std::min(full_at_, now);
        Lack(missing, now);
    }

    // The number of tokens that are missing until the bucket is full.
    double Missing(SteadyPoint now) const {
        if (full_at_ <= now) return 0;
        return std::chrono::duration<double>(full_at_ - now) /
               std::chrono::duration<double>(interval_);
    }
    // Lets at least so many tokens be missing.
    void Lack(double tokens, SteadyPoint now) {
        const std::chrono::duration<double> time =
            std::chrono::duration<double>(interval_) * tokens;
        full_at_ = std::max(full_at_, now + std::chrono::ceil<std::chrono::nanoseconds>(time));
    }

    // Returns when the next token is available; at or before now: one is available now.
    SteadyPoint NextAt() const { return full_at_ - burst_; }

    // Returns the number of tokens available now.
    std::size_t Tokens(SteadyPoint now) const {
        if (NextAt() > now) return 0;
        const auto full = static_cast<std::size_t>(burst_ / interval_) + 1;
        return std::min(full, static_cast<std::size_t>((now - NextAt()) / interval_) + 1);
    }

    void Take(SteadyPoint now) { full_at_ = std::max(full_at_, now) + interval_; }

    std::chrono::nanoseconds interval() const { return interval_; }

  private:
    // The starters poll about this often, so a burst of this much time's tokens is always allowed.
    static constexpr std::chrono::nanoseconds kGrain = std::chrono::milliseconds(10);

    std::chrono::nanoseconds interval_{};
    std::chrono::nanoseconds burst_{};
    SteadyPoint full_at_ = SteadyPoint(SteadyPoint::duration::zero());
};

}  // namespace ksana::engine

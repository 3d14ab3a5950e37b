#pragma once

#include <algorithm>
#include <chrono>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/limit.hpp"

namespace ksana::engine {

// A bucket that fills evenly, one token every per/count, and is full at first. It keeps one time
// instead of a number of tokens: that at which the bucket would be full again. So nothing is
// rounded away however long it goes on. One thread, or under the owner's lock.
class TokenBucket {
  public:
    explicit TokenBucket(const model::Rate& rate) { Reshape(rate); }

    // Another rate; what was taken stays taken.
    void Reshape(const model::Rate& rate) {
        const std::chrono::nanoseconds per = rate.per;
        const std::int64_t count = std::max<std::int64_t>(1, rate.count);
        interval_ = std::chrono::nanoseconds((per.count() + count - 1) / count);
        burst_ =
            std::max(interval_ * (std::max<std::int64_t>(1, rate.burst) - 1), kGrain - interval_);
    }

    // When the next token is there; not later than now: it is.
    SteadyPoint NextAt() const { return full_at_ - burst_; }

    // So many are there now.
    std::size_t Tokens(SteadyPoint now) const {
        if (NextAt() > now) return 0;
        const auto full = static_cast<std::size_t>(burst_ / interval_) + 1;
        return std::min(full, static_cast<std::size_t>((now - NextAt()) / interval_) + 1);
    }

    void Take(SteadyPoint now) { full_at_ = std::max(full_at_, now) + interval_; }

    std::chrono::nanoseconds interval() const { return interval_; }

  private:
    // Who is started looks this often, so that so much may always come at once.
    static constexpr std::chrono::nanoseconds kGrain = std::chrono::milliseconds(10);

    std::chrono::nanoseconds interval_{};
    std::chrono::nanoseconds burst_{};
    SteadyPoint full_at_ = SteadyPoint(SteadyPoint::duration::zero());
};

}  // namespace ksana::engine

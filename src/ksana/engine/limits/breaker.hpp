#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::engine {

struct BreakerOptions {
    int failures = 5;  // consecutive failures that open the breaker; 0: it never opens
    Duration first_pause = std::chrono::seconds(5);
    Duration longest_pause = std::chrono::minutes(1);
};

// Retry-After may extend a pause beyond longest_pause, up to this. A probe every ten minutes
// burdens no target, and a wrong header does not silence one for longer.
inline constexpr Duration kLongestWish = std::chrono::minutes(10);

inline constexpr int kJitterPart = 5;  // jitter adds up to a fifth of a pause

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

// The circuit breaker of one destination: a host, or a path of it. Closed: calls go out. After
// BreakerOptions::failures consecutive failures that say that the destination is unreachable, it
// opens and blocks all calls for a pause. Then one call goes out as a probe (half-open). If the
// probe fails, the next pause is twice as long, with jitter so that the nodes of a cluster do not
// probe at the same time. Not thread-safe: LimitTracker owns it and guards it with its mutex.
class Breaker {
  public:
    // `name`: the seed of the jitter, which differs by node and destination.
    Breaker(const BreakerOptions& options, std::string name)
        : options_(options), name_(std::move(name)) {}

    BreakerState state() const { return state_; }
    int failures() const { return failures_; }  // consecutive
    // In state kOpen: when the probe may go out.
    SteadyPoint retry_at() const { return retry_at_; }

    bool Allows(SteadyPoint now) const {
        return state_ == BreakerState::kClosed ||
               (state_ == BreakerState::kOpen && now >= retry_at_);
    }

    // Notes that an allowed call goes out. Returns whether the call is the probe.
    bool Begin();

    // Notes that the destination was unreachable. Obeys `retry_after` where the destination sent
    // it. `probe`: what Begin returned for the call.
    void Failed(bool probe, SteadyPoint now, std::optional<Duration> retry_after);
    // Notes that the destination answered, which closes the breaker. Ignores calls that began
    // before the breaker opened.
    void Answered(SteadyPoint began);
    // Notes that the probe was inconclusive: the next probe may go out at once.
    void Undecided(SteadyPoint now);

  private:
    void Open(SteadyPoint now, std::optional<Duration> retry_after);

    const BreakerOptions options_;
    const std::string name_;
    BreakerState state_ = BreakerState::kClosed;
    int failures_ = 0;
    int pauses_ = 0;  // since the breaker was last closed
    SteadyPoint opened_at_{};
    SteadyPoint retry_at_{};
};

}  // namespace ksana::engine

template <>
struct ksana::model::EnumNames<ksana::engine::BreakerState> {
    static constexpr std::array<std::string_view, 3> kNames = {"closed", "open", "half_open"};
};

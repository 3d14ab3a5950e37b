#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::engine {

struct BreakerOptions {
    int failures = 5;  // one after the other open it; 0: never
    Duration first_pause = std::chrono::seconds(5);
    Duration longest_pause = std::chrono::minutes(1);
};

// A target may ask for more than the longest pause, up to this.
inline constexpr Duration kLongestWish = std::chrono::hours(1);

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

// What is known about one destination. Closed: calls go out. After so many failures in a row of
// the kind that says that nobody is there it opens, and nothing goes out for a pause; then one call
// goes out to see. If that fails, too, the next pause is twice as long, with jitter so that the
// nodes of a cluster do not come at the same time. One thread, or under the owner's lock.
class Breaker {
  public:
    // `name`: what the jitter is made from, another one for each node and destination.
    Breaker(const BreakerOptions& options, std::string name)
        : options_(options), name_(std::move(name)) {}

    BreakerState state() const { return state_; }
    int failures() const { return failures_; }  // in a row
    // Of kOpen: when the next call may go out.
    SteadyPoint retry_at() const { return retry_at_; }

    bool Allows(SteadyPoint now) const {
        return state_ == BreakerState::kClosed ||
               (state_ == BreakerState::kOpen && now >= retry_at_);
    }

    // A call that it allows goes out. True: it is the one that is to see.
    bool Begin();

    // Nobody was there. Retry-After, where it was given, is obeyed. `probe`: what Begin said.
    void Failed(bool probe, SteadyPoint now, std::optional<Duration> retry_after);
    // Somebody was. A call from before it opened tells nothing about now.
    void Answered(SteadyPoint began);
    // The call to see told nothing: another one may go out at once.
    void Undecided(SteadyPoint now);

  private:
    void Open(SteadyPoint now, std::optional<Duration> retry_after);

    const BreakerOptions options_;
    const std::string name_;
    BreakerState state_ = BreakerState::kClosed;
    int failures_ = 0;
    int pauses_ = 0;  // since it was closed
    SteadyPoint opened_at_{};
    SteadyPoint retry_at_{};
};

}  // namespace ksana::engine

template <>
struct ksana::model::EnumNames<ksana::engine::BreakerState> {
    static constexpr std::array<std::string_view, 3> kNames = {"closed", "open", "half_open"};
};

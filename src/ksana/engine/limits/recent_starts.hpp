#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// The starts of the last period of a rate, in at most about kParts groups: enough to tell how much
// of the rate a node has used when it gives a part of it up. Each group counts as started at its
// newest start, which is never too early. Not thread-safe: LimitTracker guards it with its mutex.
class RecentStarts {
  public:
    struct Group {
        SteadyPoint first{};
        SteadyPoint newest{};
        std::int64_t count = 0;
    };

    void Add(SteadyPoint now, Duration per) {
        Forget(now, per);
        if (groups_.empty() || now - groups_.back().first > per / kParts) {
            groups_.push_back({.first = now});
        }
        groups_.back().newest = std::max(groups_.back().newest, now);
        ++groups_.back().count;
    }

    // Forgets starts that are at least a period old.
    void Forget(SteadyPoint now, Duration per) {
        while (!groups_.empty() && groups_.front().newest + per <= now) groups_.pop_front();
    }

    const std::deque<Group>& groups() const { return groups_; }

    // Starts of the group that began at `first`.
    struct Part {
        SteadyPoint first{};
        std::int64_t count = 0;
    };
    // Forgets these starts: they belong to a part of the rate that was given up.
    void Remove(const std::vector<Part>& parts) {
        for (const Part& part : parts) {
            const auto group = std::ranges::find(groups_, part.first, &Group::first);
            if (group != groups_.end()) group->count -= std::min(group->count, part.count);
        }
        std::erase_if(groups_, [](const Group& group) { return group.count == 0; });
    }

    // Returns how many tokens of a bucket with this interval the starts leave missing at `now`.
    double Missing(std::chrono::nanoseconds interval, SteadyPoint now) const {
        double missing = 0;
        SteadyPoint last = groups_.empty() ? now : groups_.front().newest;
        const auto pass = [&](SteadyPoint until) {
            const double tokens = std::chrono::duration<double>(until - last) /
                                  std::chrono::duration<double>(interval);
            missing = std::max(0.0, missing - tokens);
            last = until;
        };
        for (const Group& group : groups_) {
            pass(group.newest);
            missing += static_cast<double>(group.count);
        }
        pass(std::max(last, now));
        return missing;
    }

  private:
    static constexpr std::int64_t kParts = 64;

    std::deque<Group> groups_;  // oldest first
};

}  // namespace ksana::engine

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/engine/limits/limits.hpp"
#include "ksana/engine/limits/recent_starts.hpp"
#include "ksana/engine/limits/token_bucket.hpp"

namespace ksana::engine {

// The assumed duration of an attempt before the first one ended.
inline constexpr std::chrono::nanoseconds kGuessedHold = std::chrono::seconds(1);

// The state of one limit on this node. Owned by LimitTracker, whose mutex guards it; for its
// sources only.
struct LimitTracker::Line {
    // What the node may use of a limit that it shares with others.
    struct Share {
        std::int64_t places = 0;
        std::int64_t starts = 0;
        SteadyPoint until{};  // nothing may start later
        // Attempts in progress keep places that others wait for.
        bool pinned = false;
        // The store knows that the node wants more than it has.
        bool known = false;
        // Recent starts that belong to the part that is being given up, until that is stored.
        std::vector<RecentStarts::Part> leaving;
    };

    std::string key;
    model::Limit limit;
    std::optional<TokenBucket> bucket;
    std::size_t in_use = 0;
    // Tasks that a claim under way may bring: what they need is not given up meanwhile.
    std::size_t promised = 0;
    std::chrono::nanoseconds hold = kGuessedHold;  // moving average of the time in flight
    SteadyPoint booked_until{};  // the places up to here belong to attempts that were sent away

    bool shared = false;
    Share share;
    RecentStarts recent;  // of a shared rate
    bool asks = false;    // LimitShares was woken and has not looked yet
    SteadyPoint touched{};
    std::size_t agents_want = 0;
    SteadyPoint agents_until{};

    // Returns how many attempts may be in progress.
    std::size_t Most(SteadyPoint now) const {
        if (!limit.max_concurrency) return SIZE_MAX;
        std::int64_t most = std::max(0, *limit.max_concurrency);
        if (shared) most = now < share.until ? std::min(most, share.places) : 0;
        return static_cast<std::size_t>(most);
    }

    // Returns when the next attempt may start; max(): only after something has changed.
    SteadyPoint FreeAt(SteadyPoint now) const {
        if (in_use >= Most(now)) return SteadyPoint::max();
        if (!bucket) return now;
        if (shared && (share.starts <= 0 || now >= share.until)) return SteadyPoint::max();
        return bucket->NextAt();
    }

    // Returns how many attempts may start now.
    std::size_t Room(SteadyPoint now) const {
        if (FreeAt(now) > now) return 0;
        const std::size_t most = Most(now);
        const std::size_t places = most == SIZE_MAX ? most : most - in_use;
        return bucket ? std::min(places, bucket->Tokens(now)) : places;
    }

    void Take(SteadyPoint now) {
        ++in_use;
        touched = now;
        if (bucket) bucket->Take(now);
        if (bucket && shared) recent.Add(now, limit.rate->per);
    }

    // Notes that a start was refused. Returns whether LimitShares must be woken.
    bool Ask(SteadyPoint now) {
        touched = now;
        if (!shared || asks || share.known) return false;
        const bool all = now < share.until &&
                         (!limit.max_concurrency || share.places >= *limit.max_concurrency) &&
                         (!limit.rate || share.starts >= limit.rate->count);
        asks = !all;
        return asks;
    }

    void ShapeBucket() {
        if (!limit.rate) return bucket.reset();
        const model::Rate rate =
            shared ? model::RateOfShare(*limit.rate, share.starts) : *limit.rate;
        if (bucket) {
            bucket->Reshape(rate);
        } else {
            bucket.emplace(rate);
        }
    }

    // Returns the expected time between two starts.
    std::chrono::nanoseconds Interval() const {
        auto interval = bucket ? bucket->interval() : std::chrono::nanoseconds(1);
        if (limit.max_concurrency) {
            const std::int64_t most = shared ? share.places : *limit.max_concurrency;
            interval = std::max(interval, hold / std::max<std::int64_t>(1, most));
        }
        return std::max(interval, std::chrono::nanoseconds(1));
    }
};

}  // namespace ksana::engine

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/limit.hpp"

namespace ksana::model {

// How the nodes of a cluster divide one limit. Each holds a share, for a short time, in one
// document for each limit; a node starts only what its share allows. All times are the store's.
// Everything here is pure: engine::LimitShares reads and writes the document.

// What a node holds of one number of a limit: places (max_concurrency), or starts in a period
// (Rate::count).
struct SharePart {
    std::int64_t held = 0;
    std::int64_t wanted = 0;  // what the node could use now
    // When `held` last changed from or to zero, or since when a node with nothing wants something.
    TimePoint since{};
    friend bool operator==(const SharePart&, const SharePart&) = default;
};

struct NodeShare {
    std::string owner;  // node/incarnation
    // The end of the share unless it is renewed. The node stops starting before.
    TimePoint until{};
    std::int64_t in_use = 0;
    std::int64_t waiting = 0;
    SharePart places;
    SharePart starts;
    // At most so many starts lie in the period before `until`: for the case that the node dies.
    std::int64_t recent = 0;
    friend bool operator==(const NodeShare&, const NodeShare&) = default;
};

// Starts per period that nobody may hold before `until`: whoever held them has used them.
struct CoolingStarts {
    std::int64_t starts = 0;
    TimePoint until{};
    friend bool operator==(const CoolingStarts&, const CoolingStarts&) = default;
};

struct ShareBook {
    std::vector<NodeShare> nodes;
    std::vector<CoolingStarts> cooling;  // by time; few, see Rebalance
    friend bool operator==(const ShareBook&, const ShareBook&) = default;
};

// Starts of this node, newest of them at `at`.
struct StartsAt {
    TimePoint at{};
    std::int64_t count = 0;
};

// What a node tells about itself when it asks for its share.
struct ShareRequest {
    std::string owner;
    std::int64_t in_use = 0;
    std::int64_t waiting = 0;
    std::vector<StartsAt> recent;  // the starts of the last period, oldest first
    bool leave = false;            // gives everything back
};

struct ShareOutcome {
    ShareBook book;
    // What the node may have in progress and start from now on. `places` may be less than the book
    // says: attempts that are in progress keep their places until they end.
    std::int64_t places = 0;
    std::int64_t starts = 0;
    // How many of the request's recent starts, by index, belong to starts that were given up.
    std::vector<std::int64_t> given;
    // The node wants more than it has, so it must be told when others give something up.
    bool unmet = false;
    // Another node gains from learning of this change at once.
    bool concerns_others = false;
};

// The length of a turn where there are fewer places than nodes that want one.
inline constexpr Duration kShareTurn = std::chrono::seconds(1);

// Computes the new share of one node. The shares of the others stay as they are, except that those
// that have ended are removed. The places of all shares together are never more than the limit
// allows, unless more attempts are in progress already (after the limit was lowered). A node gives
// up only what it does not use, and only to a node that wants it. What a node gives up of a rate is
// held by nobody until the starts made with it are a period old, so that no period has more than
// count + burst - 1 starts over all nodes (limit_share_test proves it over random changes).
ShareOutcome Rebalance(ShareBook book, const Limit& limit, const ShareRequest& me, TimePoint now,
                       Duration lease);

// Returns the rate of a node that holds so many of the rate's starts, with its part of the burst.
// A node that holds none must start nothing; it gets the rate of one.
Rate RateOfShare(const Rate& rate, std::int64_t starts);

}  // namespace ksana::model

#include "ksana/model/job/limit_share.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace ksana::model {
namespace {

// More entries than this are merged, which makes some starts cool longer.
constexpr std::size_t kMostCooling = 64;

// One node in the division of one number.
struct Party {
    SharePart part;
    std::string_view owner;
};

// The order in which nodes get a place where there are fewer places than nodes: first who has its
// turn, then who has waited longest, then who had a turn, the longest one last.
auto TurnOf(const Party& party, TimePoint now, Duration turn) {
    const bool holds = party.part.held > 0;
    const int rank = !holds ? 1 : now - party.part.since < turn ? 0 : 2;
    const auto since = party.part.since.time_since_epoch().count();
    return std::tuple(rank, rank == 2 ? -since : since, party.owner);
}

std::int64_t SumUpTo(const std::vector<Party>& parties, std::int64_t level) {
    std::int64_t sum = 0;
    for (const Party& party : parties) sum += std::clamp<std::int64_t>(party.part.wanted, 0, level);
    return sum;
}

// Returns the largest number that everybody can have of what it wants.
std::int64_t LevelOf(const std::vector<Party>& parties, std::int64_t total) {
    std::int64_t level = 0;
    std::int64_t over = total + 1;
    while (level + 1 < over) {
        const std::int64_t middle = level + (over - level) / 2;
        (SumUpTo(parties, middle) <= total ? level : over) = middle;
    }
    return level;
}

// Returns the fair part of parties[me]: everybody gets what it wants, or the same as all others who
// want more than there is. What nobody wants is divided evenly, so that the next start needs no
// request. A remainder stays with who holds it; if it is all there is, nodes take turns.
std::int64_t FairPart(const std::vector<Party>& parties, std::size_t me, std::int64_t total,
                      TimePoint now, Duration turn) {
    const std::int64_t level = LevelOf(parties, total);
    const std::int64_t left = total - SumUpTo(parties, level);
    const std::int64_t wanted = parties[me].part.wanted;
    const std::int64_t part = std::clamp<std::int64_t>(wanted, 0, level);
    const bool all_have_enough =
        std::ranges::all_of(parties, [&](const Party& one) { return one.part.wanted <= level; });
    if (all_have_enough) return part + left / static_cast<std::int64_t>(parties.size());
    if (wanted <= level) return part;
    const auto place = [&](const Party& one) {
        const bool keeps = level > 0 && one.part.held > level;
        return std::tuple(!keeps, TurnOf(one, now, turn));
    };
    const auto before = std::ranges::count_if(parties, [&](const Party& one) {
        return one.part.wanted > level && place(one) < place(parties[me]);
    });
    return before < left ? part + 1 : part;
}

// The most starts in a period of a node that holds `held` of the rate.
std::int64_t StartsOf(const Rate& rate, std::int64_t held) {
    return held + (rate.burst - 1) * held / rate.count;
}

// How much of the rate `starts` starts in one period stand for, rounded up.
std::int64_t HeldFor(const Rate& rate, std::int64_t starts) {
    const std::int64_t most = rate.count + rate.burst - 1;
    return (starts * rate.count + most - 1) / most;
}

void Cool(ShareBook& book, std::int64_t starts, TimePoint until) {
    if (starts > 0) book.cooling.push_back({.starts = starts, .until = until});
}

void TidyCooling(ShareBook& book, TimePoint now) {
    std::erase_if(book.cooling, [&](const CoolingStarts& one) { return one.until <= now; });
    std::ranges::sort(book.cooling, {}, &CoolingStarts::until);
    while (book.cooling.size() > kMostCooling) {
        // Pairs, and each pair ends with the later of its two.
        std::vector<CoolingStarts> merged;
        for (std::size_t n = 0; n < book.cooling.size(); ++n) {
            if (n % 2 == 0) {
                merged.push_back(book.cooling[n]);
            } else {
                merged.back().starts += book.cooling[n].starts;
                merged.back().until = book.cooling[n].until;
            }
        }
        book.cooling = std::move(merged);
    }
}

// Nobody knows what a node that is gone started in the end, so that the most it may have started
// cools for a whole period.
void DropEnded(ShareBook& book, const Limit& limit, TimePoint now) {
    std::erase_if(book.nodes, [&](const NodeShare& node) {
        if (node.until > now) return false;
        if (limit.rate) {
            const std::int64_t used = std::min(node.starts.held, HeldFor(*limit.rate, node.recent));
            Cool(book, used, node.until + limit.rate->per);
        }
        return true;
    });
}

std::vector<Party> PartiesOf(const ShareBook& book, SharePart NodeShare::*part) {
    std::vector<Party> parties;
    for (const NodeShare& node : book.nodes) parties.push_back({node.*part, node.owner});
    return parties;
}

struct Division {
    std::int64_t total = 0;
    std::int64_t cooling = 0;  // held by nobody
    Duration turn{};
};

// Returns what parties[me] may use from now on.
std::int64_t Divide(const std::vector<Party>& parties, std::size_t me, const Division& of,
                    TimePoint now) {
    const SharePart& mine = parties[me].part;
    const std::int64_t fair = FairPart(parties, me, of.total, now, of.turn);
    std::int64_t others = of.cooling;
    bool wanted_elsewhere = false;
    for (std::size_t n = 0; n < parties.size(); ++n) {
        if (n == me) continue;
        others += parties[n].part.held;
        wanted_elsewhere |= parties[n].part.wanted > parties[n].part.held;
    }
    const std::int64_t free = std::max<std::int64_t>(0, of.total - others);
    // More is held than there is: the limit was lowered, or this node was away, and others have the
    // places of its attempts. What ends must not begin again before there is room for it.
    if (mine.held > free) return std::min(free, fair);
    if (mine.held > fair) return wanted_elsewhere ? fair : mine.held;
    return mine.wanted > mine.held || mine.held == 0 ? std::min(fair, free) : mine.held;
}

void SetHeld(SharePart& part, std::int64_t held, TimePoint now) {
    if ((held > 0) != (part.held > 0)) part.since = now;
    part.held = held;
}

void SetWanted(SharePart& part, std::int64_t wanted, TimePoint now) {
    if (part.held == 0 && part.wanted == 0 && wanted > 0) part.since = now;
    part.wanted = wanted;
}

std::int64_t CountOf(const std::vector<StartsAt>& recent) {
    std::int64_t count = 0;
    for (const StartsAt& starts : recent) count += starts.count;
    return count;
}

// Gives up a part of the rate. As many of the recent starts as the rest does not cover go with it,
// spread evenly over the period, and it cools until they are a period old. The remainder is free at
// once.
void GiveUpStarts(ShareOutcome& out, const Rate& rate, const ShareRequest& me, SharePart& mine,
                  std::int64_t held) {
    const std::int64_t made = CountOf(me.recent);
    const std::int64_t gives = mine.held - held;
    std::int64_t left = std::clamp<std::int64_t>(made - StartsOf(rate, held), 0, made);
    std::int64_t seen = 0;
    const std::int64_t all = left;
    std::int64_t cools = std::min(gives, HeldFor(rate, left));
    for (std::size_t n = 0; n < me.recent.size() && all > 0; ++n) {
        seen += me.recent[n].count;
        const std::int64_t gone = all * seen / made - (all - left);
        out.given[n] = gone;
        left -= gone;
        const std::int64_t still = std::min(gives, HeldFor(rate, left));
        Cool(out.book, cools - still, me.recent[n].at + rate.per);
        cools = still;
    }
}

void DividePlaces(ShareOutcome& out, std::size_t index, std::int64_t most, TimePoint now) {
    NodeShare& mine = out.book.nodes[index];
    SetWanted(mine.places, mine.in_use + mine.waiting, now);
    const auto parties = PartiesOf(out.book, &NodeShare::places);
    const Division division{.total = most, .turn = kShareTurn};
    out.places = Divide(parties, index, division, now);
    const std::int64_t held = std::max(out.places, mine.in_use);
    out.concerns_others |= held < mine.places.held;
    SetHeld(mine.places, held, now);
    out.unmet |= mine.places.wanted > out.places;
}

void DivideStarts(ShareOutcome& out, std::size_t index, const Rate& rate, const ShareRequest& me,
                  TimePoint now) {
    const std::int64_t made = CountOf(me.recent);
    SharePart& mine = out.book.nodes[index].starts;
    SetWanted(mine, me.waiting > 0 ? rate.count : std::min(rate.count, HeldFor(rate, made)), now);
    Division division{.total = rate.count, .turn = std::max(kShareTurn, rate.per)};
    for (const CoolingStarts& one : out.book.cooling) division.cooling += one.starts;
    const auto parties = PartiesOf(out.book, &NodeShare::starts);
    out.starts = Divide(parties, index, division, now);
    if (out.starts < mine.held) {
        GiveUpStarts(out, rate, me, mine, out.starts);
        out.concerns_others = true;
    }
    SetHeld(mine, out.starts, now);
    out.unmet |= me.waiting > 0 && mine.wanted > out.starts;
}

// An upper bound of the starts in the period before `until`, if the node goes on as it may.
std::int64_t RecentAtEnd(const Rate& rate, const ShareRequest& me, std::int64_t held,
                         Duration lease) {
    const Rate own = RateOfShare(rate, held);
    const std::int64_t more = held == 0 ? 0 : own.burst + 1 + own.count * lease / rate.per;
    return std::min(CountOf(me.recent) + more, std::max(StartsOf(rate, held), CountOf(me.recent)));
}

void Leave(ShareOutcome& out, std::size_t index, const Limit& limit, const ShareRequest& me) {
    NodeShare& mine = out.book.nodes[index];
    if (limit.rate) GiveUpStarts(out, *limit.rate, me, mine.starts, 0);
    out.book.nodes.erase(out.book.nodes.begin() + static_cast<std::ptrdiff_t>(index));
    out.concerns_others = std::ranges::any_of(out.book.nodes, [](const NodeShare& node) {
        return node.places.wanted > node.places.held || node.starts.wanted > node.starts.held;
    });
}

}  // namespace

ShareOutcome Rebalance(ShareBook book, const Limit& limit, const ShareRequest& me, TimePoint now,
                       Duration lease) {
    DropEnded(book, limit, now);
    TidyCooling(book, now);
    ShareOutcome out{.book = std::move(book)};
    out.given.resize(me.recent.size());
    auto found = std::ranges::find(out.book.nodes, me.owner, &NodeShare::owner);
    const auto index = static_cast<std::size_t>(found - out.book.nodes.begin());
    if (found == out.book.nodes.end()) {
        if (me.leave) return out;
        out.book.nodes.push_back({.owner = me.owner});
    } else if (me.leave) {
        Leave(out, index, limit, me);
        TidyCooling(out.book, now);
        return out;
    }
    const bool was_unmet =
        out.book.nodes[index].places.wanted > out.book.nodes[index].places.held ||
        out.book.nodes[index].starts.wanted > out.book.nodes[index].starts.held;
    out.book.nodes[index].until = now + lease;
    out.book.nodes[index].in_use = me.in_use;
    out.book.nodes[index].waiting = me.waiting;
    if (limit.max_concurrency) DividePlaces(out, index, *limit.max_concurrency, now);
    if (limit.rate) {
        DivideStarts(out, index, *limit.rate, me, now);
        NodeShare& mine = out.book.nodes[index];
        mine.recent = RecentAtEnd(*limit.rate, me, mine.starts.held, lease);
        TidyCooling(out.book, now);
    }
    out.concerns_others =
        (out.concerns_others || (out.unmet && !was_unmet)) && out.book.nodes.size() > 1;
    return out;
}

Rate RateOfShare(const Rate& rate, std::int64_t starts) {
    Rate own = rate;
    own.count = std::clamp<std::int64_t>(starts, 1, rate.count);
    own.burst = 1 + (rate.burst - 1) * std::min(starts, rate.count) / rate.count;
    return own;
}

}  // namespace ksana::model

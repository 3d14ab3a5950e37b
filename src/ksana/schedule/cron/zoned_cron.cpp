#include "ksana/schedule/cron/zoned_cron.hpp"

#include <algorithm>
#include <utility>

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {

// One segment of the zone as seen by an expression: the local seconds at which it may fire, and the
// effect of the clock change at its start.
struct ZonedCron::Borders {
    ZoneSegment segment;
    std::int64_t low = 0;   // first local second in which the pattern may fire
    std::int64_t high = 0;  // end of those seconds (exclusive)
    // The local seconds skipped by the change at the start: [gap_low, gap_high); empty if none.
    std::int64_t gap_low = 0;
    std::int64_t gap_high = 0;
};

ZonedCron::ZonedCron(CronPattern pattern, std::shared_ptr<const Zone> zone, DstPolicy policy)
    : pattern_(std::move(pattern)),
      zone_(std::move(zone)),
      policy_(policy),
      utc_(zone_->IsUtc()),
      fixed_time_(pattern_.spec().IsFixedTime()) {}

ZonedCron::Borders ZonedCron::BordersOf(std::int64_t index) const {
    Borders borders;
    borders.segment = zone_->Segment(index);
    const ZoneSegment& segment = borders.segment;
    // The first and the last segment are unbounded: clamp them so that the sums do not overflow.
    const std::int64_t begin = std::max(segment.begin, kMinLocalSecond - kSecondsPerDay);
    const std::int64_t end = std::min(segment.end, kMaxLocalSecond + kSecondsPerDay);
    borders.low = begin + segment.offset;
    borders.high = end + segment.offset;
    if (!fixed_time_) return borders;
    if (index > 0) {
        const std::int64_t before = begin + zone_->Segment(index - 1).offset;
        if (before < borders.low) {
            borders.gap_low = before;
            borders.gap_high = borders.low;
        } else if (policy_.fold == FoldPolicy::kFirst) {
            borders.low = before;  // earlier ones fired on the first pass
        }
    }
    if (policy_.fold == FoldPolicy::kSecond && segment.end < kMaxLocalSecond) {
        // Later ones fire on the second pass.
        borders.high = std::min(borders.high, end + zone_->Segment(index + 1).offset);
    }
    return borders;
}

// Returns whether the clock change at the start of the segment causes a fire of its own: a match
// was skipped, and the pattern does not fire at that instant anyway.
bool ZonedCron::FiresAtGapEnd(const Borders& borders) const {
    return policy_.gap == GapPolicy::kRunAfter &&
           pattern_.FiresAfterGap(borders.gap_low, borders.gap_high);
}

std::optional<std::int64_t> ZonedCron::Next(std::int64_t after, std::int64_t until) const {
    if (!pattern_.CanMatch()) return std::nullopt;
    const std::int64_t first = std::max(after + 1, kMinLocalSecond);
    const std::int64_t limit = std::min(pattern_.LastNeeded(first), until);
    if (utc_) return pattern_.Next(first, limit);
    if (first > limit) return std::nullopt;

    std::int64_t index = zone_->IndexAt(first);
    Borders borders = BordersOf(index);
    if (first == borders.segment.begin && FiresAtGapEnd(borders)) return first;
    std::int64_t from = std::max(first + borders.segment.offset, borders.low);
    // The search goes a day past `limit`, because offsets differ; the result is checked against it.
    const std::int64_t local_limit = limit + kSecondsPerDay;
    std::optional<std::int64_t> match = pattern_.Next(from, local_limit);
    for (;;) {
        if (match && *match < borders.high) {
            const std::int64_t utc = *match - borders.segment.offset;
            return utc <= limit ? std::optional(utc) : std::nullopt;
        }
        if (borders.segment.end > limit) return std::nullopt;
        borders = BordersOf(++index);
        if (FiresAtGapEnd(borders)) return borders.segment.begin;
        // The match is still the next one unless the clocks went back to before the start of the
        // search, or forward past the match.
        const bool search_again = borders.low < from || (match && *match < borders.low);
        from = borders.low;
        if (search_again) match = pattern_.Next(from, local_limit);
    }
}

std::optional<std::int64_t> ZonedCron::Previous(std::int64_t before, std::int64_t from) const {
    if (!pattern_.CanMatch()) return std::nullopt;
    const std::int64_t last = std::min(before - 1, kMaxLocalSecond);
    const std::int64_t limit = std::max(pattern_.FirstNeeded(last), from);
    if (utc_) return pattern_.Previous(last, limit);
    if (last < limit) return std::nullopt;

    for (std::int64_t index = zone_->IndexAt(last); index >= 0; --index) {
        const Borders borders = BordersOf(index);
        const std::int64_t top = std::min(last + borders.segment.offset, borders.high - 1);
        if (const auto match = pattern_.Previous(top, borders.low)) {
            const std::int64_t utc = *match - borders.segment.offset;
            return utc >= limit ? std::optional(utc) : std::nullopt;
        }
        if (borders.segment.begin <= last && FiresAtGapEnd(borders)) {
            return borders.segment.begin >= limit ? std::optional(borders.segment.begin)
                                                  : std::nullopt;
        }
        if (borders.segment.begin < limit) return std::nullopt;
    }
    return std::nullopt;
}

std::int64_t ZonedCron::Count(std::int64_t from, std::int64_t to) const {
    from = std::max(from, kMinLocalSecond);
    to = std::min(to, kMaxLocalSecond + 1);
    if (from >= to || !pattern_.CanMatch()) return 0;
    if (utc_) return pattern_.Count(from, to);
    std::int64_t count = 0;
    for (std::int64_t index = zone_->IndexAt(from);; ++index) {
        const Borders borders = BordersOf(index);
        const std::int64_t offset = borders.segment.offset;
        count += pattern_.Count(std::max(from + offset, borders.low),
                                std::min(to + offset, borders.high));
        if (borders.segment.begin >= from && borders.segment.begin < to && FiresAtGapEnd(borders)) {
            ++count;
        }
        if (borders.segment.end >= to) return count;
    }
}

DstNote ZonedCron::NoteFor(std::int64_t fire) const {
    if (utc_) return DstNote::kNone;
    const std::int64_t index = zone_->IndexAt(fire);
    const ZoneSegment here = zone_->Segment(index);
    const Borders borders = BordersOf(index);
    if (fire == here.begin && FiresAtGapEnd(borders)) return DstNote::kAfterGap;
    const std::int64_t local = fire + here.offset;
    if (index > 0) {
        const std::int32_t before = zone_->Segment(index - 1).offset;
        if (local < here.begin + before) return DstNote::kSecondPass;
    }
    if (here.end < kMaxLocalSecond) {
        const std::int32_t after = zone_->Segment(index + 1).offset;
        if (local >= here.end + after) return DstNote::kFirstPass;
    }
    return DstNote::kNone;
}

}  // namespace ksana::schedule

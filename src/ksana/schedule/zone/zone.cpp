#include "ksana/schedule/zone/zone.hpp"

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/schedule/zone/civil.hpp"
#include "ksana/schedule/zone/tzif.hpp"

namespace ksana::schedule {
namespace {

// A transition of a zone.
struct Change {
    std::int64_t at;
    PosixRule::Kind to;
};

// Returns the transitions that a rule makes from `after` on, for one whole calendar cycle from the
// first full year, so that the cycle can be repeated.
std::vector<Change> ChangesOfRule(const PosixRule& rule, std::int64_t after) {
    std::vector<Change> changes;
    if (!rule.summer) return changes;
    const auto& summer = *rule.summer;
    const int first_year = DateOf(FloorDiv(after, kSecondsPerDay)).year - 1;
    for (int year = first_year; year <= first_year + kCalendarCycleYears + 2; ++year) {
        changes.push_back({summer.start.LocalSecond(year) - rule.standard.offset, summer.kind});
        changes.push_back({summer.end.LocalSecond(year) - summer.kind.offset, rule.standard});
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    return changes;
}

}  // namespace

const std::shared_ptr<const Zone>& Zone::Utc() {
    static const std::shared_ptr<const Zone> utc = [] {
        auto zone = std::make_shared<Zone>(Key{});
        zone->name_ = "UTC";
        zone->begins_ = {std::numeric_limits<std::int64_t>::min()};
        zone->offsets_ = {0};
        zone->abbreviation_of_ = {0};
        zone->abbreviations_ = {"UTC"};
        return zone;
    }();
    return utc;
}

Result<std::shared_ptr<const Zone>> Zone::FromTzif(std::string name, std::string_view bytes) {
    KSANA_TRY(const TzifData data, ParseTzif(bytes));
    auto zone = std::make_shared<Zone>(Key{});
    zone->name_ = std::move(name);

    const auto append = [&zone](std::int64_t at, const PosixRule::Kind& kind) {
        if (!zone->offsets_.empty() && zone->offsets_.back() == kind.offset &&
            zone->abbreviations_[zone->abbreviation_of_.back()] == kind.abbreviation) {
            // Neither the offset nor the abbreviation changes.
            return;
        }
        auto known =
            std::find(zone->abbreviations_.begin(), zone->abbreviations_.end(), kind.abbreviation);
        if (known == zone->abbreviations_.end()) {
            known = zone->abbreviations_.insert(known, kind.abbreviation);
        }
        zone->begins_.push_back(at);
        zone->offsets_.push_back(kind.offset);
        zone->abbreviation_of_.push_back(
            static_cast<std::uint8_t>(known - zone->abbreviations_.begin()));
    };

    append(std::numeric_limits<std::int64_t>::min(), data.initial);
    for (const TzifData::Transition& transition : data.transitions) {
        append(transition.at, data.kinds[transition.kind]);
    }
    if (!data.rule) return std::shared_ptr<const Zone>(std::move(zone));

    const std::int64_t last =
        data.transitions.empty() ? kMinLocalSecond : data.transitions.back().at;
    if (!data.rule->summer) {
        if (data.transitions.empty()) append(kMinLocalSecond, data.rule->standard);
        return std::shared_ptr<const Zone>(std::move(zone));
    }
    for (const Change& change : ChangesOfRule(*data.rule, last)) {
        if (change.at > last) append(change.at, change.to);
    }
    // The last 400 years come from the rule alone, so they repeat.
    const std::int64_t cycle_start = zone->begins_.back() - kCalendarCycleSeconds;
    const auto first = std::upper_bound(zone->begins_.begin(), zone->begins_.end(), cycle_start);
    if (cycle_start >= last) zone->cycle_ = zone->begins_.end() - first;
    return std::shared_ptr<const Zone>(std::move(zone));
}

// Returns how many whole cycles `utc` lies beyond the stored segments.
std::int64_t Zone::CycleOf(std::int64_t utc) const {
    if (cycle_ == 0 || utc < begins_.back()) return 0;
    return (utc - begins_.back()) / kCalendarCycleSeconds + 1;
}

std::int64_t Zone::IndexAt(std::int64_t utc) const {
    const std::int64_t cycles = CycleOf(utc);
    const std::int64_t folded = utc - cycles * kCalendarCycleSeconds;
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), folded);
    return after - begins_.begin() - 1 + cycles * cycle_;
}

ZoneSegment Zone::Segment(std::int64_t index) const {
    const auto size = static_cast<std::int64_t>(begins_.size());
    // The begin of segment i, also beyond the stored ones.
    const auto begin_of = [this, size](std::int64_t i) {
        if (i < size) return begins_[static_cast<std::size_t>(i)];
        const std::int64_t cycles = (i - size) / cycle_ + 1;
        return begins_[static_cast<std::size_t>(i - cycles * cycle_)] +
               cycles * kCalendarCycleSeconds;
    };
    std::int64_t stored = index;
    if (index >= size) stored = index - ((index - size) / cycle_ + 1) * cycle_;
    ZoneSegment segment;
    segment.begin = begin_of(index);
    segment.offset = offsets_[static_cast<std::size_t>(stored)];
    if (index + 1 < size || cycle_ > 0) segment.end = begin_of(index + 1);
    return segment;
}

std::string_view Zone::AbbreviationAt(std::int64_t utc) const {
    std::int64_t index = IndexAt(utc);
    const auto size = static_cast<std::int64_t>(begins_.size());
    if (index >= size) index -= ((index - size) / cycle_ + 1) * cycle_;
    return abbreviations_[abbreviation_of_[static_cast<std::size_t>(index)]];
}

std::int64_t Zone::FirstInstantAt(std::int64_t local) const {
    // No zone is a day or more away from UTC, so the result lies within a day of `local`.
    std::int64_t index = IndexAt(local - kSecondsPerDay);
    for (;; ++index) {
        const ZoneSegment segment = Segment(index);
        const std::int64_t utc = std::max(local - segment.offset, segment.begin);
        if (utc < segment.end) return utc;
    }
}

}  // namespace ksana::schedule

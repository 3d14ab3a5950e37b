#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::schedule {

// A stretch of time during which a zone's clock keeps one offset: [begin, end) in seconds of UTC.
struct ZoneSegment {
    std::int64_t begin = std::numeric_limits<std::int64_t>::min();
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    std::int32_t offset = 0;  // local = UTC + offset, in seconds
};

// The history and the rules of one time zone, read from a TZif file (RFC 8536) together with the
// rule at its end, so that summer time goes on for ever. Immutable, hence safe to share.
class Zone {
    // Only the functions below make zones; std::make_shared needs a public constructor all the
    // same.
    struct Key {};

  public:
    explicit Zone(Key) {}

    // The bytes of a TZif file, version 2 or later.
    static Result<std::shared_ptr<const Zone>> FromTzif(std::string name, std::string_view bytes);
    static const std::shared_ptr<const Zone>& Utc();

    const std::string& name() const { return name_; }
    bool IsUtc() const { return begins_.size() == 1 && offsets_[0] == 0; }

    // Segments are numbered in order of time, without an end where the rule goes on for ever.
    std::int64_t IndexAt(std::int64_t utc) const;
    ZoneSegment Segment(std::int64_t index) const;

    std::int32_t OffsetAt(std::int64_t utc) const { return Segment(IndexAt(utc)).offset; }
    // "EST", "+0330": what people there call the time.
    std::string_view AbbreviationAt(std::int64_t utc) const;

    // The first instant whose local time is at or after `local`: in a gap its end, in a fold the
    // earlier of the two.
    std::int64_t FirstInstantAt(std::int64_t local) const;

    friend bool operator==(const Zone&, const Zone&) = default;

  private:
    std::int64_t CycleOf(std::int64_t utc) const;

    std::string name_;
    // Parallel: the segment i starts at begins_[i] (the first at the beginning of time). The last
    // `cycle_` segments repeat every 400 years, as the calendar does; 0: the last one stays.
    std::vector<std::int64_t> begins_;
    std::vector<std::int32_t> offsets_;
    std::vector<std::uint8_t> abbreviation_of_;
    std::vector<std::string> abbreviations_;
    std::int64_t cycle_ = 0;
};

}  // namespace ksana::schedule

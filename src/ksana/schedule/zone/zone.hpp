#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::schedule {

// An interval [begin, end), in seconds of UTC, in which a zone has one offset.
struct ZoneSegment {
    std::int64_t begin = std::numeric_limits<std::int64_t>::min();
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    std::int32_t offset = 0;  // local = UTC + offset, in seconds
};

// One time zone: the transitions of a TZif file (RFC 8536) and the rule at its end, so that summer
// time continues without end. Immutable, thread-safe.
class Zone {
    // Restricts construction to the functions below; std::make_shared needs a public constructor.
    struct Key {};

  public:
    explicit Zone(Key) {}

    // Parses the bytes of a TZif file, version 2 or later. Returns kDataLoss if the file is
    // damaged.
    static Result<std::shared_ptr<const Zone>> FromTzif(std::string name, std::string_view bytes);
    static const std::shared_ptr<const Zone>& Utc();

    const std::string& name() const { return name_; }
    bool IsUtc() const { return begins_.size() == 1 && offsets_[0] == 0; }

    // Segments are numbered in order of time from 0; without an upper bound if the rule has summer
    // time.
    std::int64_t IndexAt(std::int64_t utc) const;
    ZoneSegment Segment(std::int64_t index) const;

    std::int32_t OffsetAt(std::int64_t utc) const { return Segment(IndexAt(utc)).offset; }
    // Returns the abbreviation of the local time: "EST", "+0330".
    std::string_view AbbreviationAt(std::int64_t utc) const;

    // Returns the first instant whose local time is `local` or later: the end of a gap, or the
    // earlier of the two instants in a fold.
    std::int64_t FirstInstantAt(std::int64_t local) const;

    friend bool operator==(const Zone&, const Zone&) = default;

  private:
    std::int64_t CycleOf(std::int64_t utc) const;

    std::string name_;
    // Parallel vectors: segment i starts at begins_[i] (the first at the minimum of int64). The
    // last `cycle_` segments repeat every 400 years, like the calendar; 0: the last segment has no
    // end.
    std::vector<std::int64_t> begins_;
    std::vector<std::int32_t> offsets_;
    std::vector<std::uint8_t> abbreviation_of_;
    std::vector<std::string> abbreviations_;
    std::int64_t cycle_ = 0;
};

}  // namespace ksana::schedule

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/store_kit/driver/rows.hpp"

// Lists the events of a time span in the order of seq. Times mostly rise with seq, but clocks are
// set back and imports contain any time, so a time does not determine a seq. Drivers therefore
// index (block, at), where a block is 4096 consecutive seqs: one lookup tells whether a block has
// an event of the span, and blocks without one are skipped.

namespace ksana::store_kit {

inline constexpr int kEventBlockBits = 12;  // drivers index seq >> 12

// A closed range.
struct SeqRange {
    std::int64_t first = INT64_MIN;
    std::int64_t last = INT64_MAX;
};

SeqRange RangeOfBlock(std::int64_t block);
// Removes from the range everything up to and including `seq`, in the direction of the list.
// Returns false if nothing is left.
bool DropUpTo(SeqRange& range, std::int64_t seq, bool descending);

// The two reads that a driver provides.
struct EventWindowReads {
    // Returns the block nearest to the start of the list that has an event of the list's span in
    // the range.
    std::function<Result<std::optional<std::int64_t>>(const SeqRange&)> nearest_block;
    // Returns the list's events in the range, at most the given number; ignores list.after.
    std::function<Result<std::vector<model::AuditEvent>>(const SeqRange&, std::size_t)> within;
};

// Returns whether the list has a time span, for which ListEventsOfSpan is meant.
bool HasSpan(const EventList& list);
// Reads the list window by window. Each window begins at a block that has an event of the span, and
// is twice as long as the one before, because the rest of the filter may let few events through.
Result<std::vector<model::AuditEvent>> ListEventsOfSpan(const EventList& list,
                                                        const EventWindowReads& reads);

}  // namespace ksana::store_kit

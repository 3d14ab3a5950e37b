#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/store_kit/driver/rows.hpp"

// Events of a span of time, in the order of their seq. Mostly times rise with seq, but clocks are
// set back and imports bring what they like, so that a time says nothing certain about the seq.
// A driver therefore has an index of (block, at), where a block is 4096 seqs in a row: whether a
// block holds anything of the span is one look, and the blocks that hold nothing are not walked.

namespace ksana::store_kit {

inline constexpr int kEventBlockBits = 12;  // drivers' indexes are made of seq >> 12

// Both ends belong to it.
struct SeqRange {
    std::int64_t first = INT64_MIN;
    std::int64_t last = INT64_MAX;
};

SeqRange RangeOfBlock(std::int64_t block);
// Takes what comes up to and with this seq off the range, as a list in this direction passes over
// it. False: nothing is left.
bool PassOver(SeqRange& range, std::int64_t seq, bool descending);

struct EventWindowReads {
    // The block with something of the list's span that is nearest to where the list begins, of
    // those that have an event in the range.
    std::function<Result<std::optional<std::int64_t>>(const SeqRange&)> nearest_block;
    // The list's events in the range, whatever list.after says; at most so many.
    std::function<Result<std::vector<model::AuditEvent>>(const SeqRange&, std::size_t)> within;
};

// Whether the list is one that ListEventsOfSpan is for.
bool HasSpan(const EventList& list);
// The list, window by window: each begins at a block that has something of the span and is twice
// as long as the one before, as another filter may let little of it through.
Result<std::vector<model::AuditEvent>> ListEventsOfSpan(const EventList& list,
                                                        const EventWindowReads& reads);

}  // namespace ksana::store_kit

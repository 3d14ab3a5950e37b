#include "ksana/store_kit/driver/event_windows.hpp"

#include <algorithm>
#include <iterator>

namespace ksana::store_kit {
namespace {

constexpr std::int64_t kFirstBlock = INT64_MIN >> kEventBlockBits;
constexpr std::int64_t kLastBlock = INT64_MAX >> kEventBlockBits;

// Returns the seqs of `blocks` blocks, from `block` on in the direction of the list, within `left`.
SeqRange Window(const EventList& list, const SeqRange& left, std::int64_t block,
                std::int64_t blocks) {
    const std::int64_t low = list.descending ? std::max(block - blocks + 1, kFirstBlock) : block;
    const std::int64_t high = list.descending ? block : std::min(block + blocks - 1, kLastBlock);
    return {.first = std::max(left.first, RangeOfBlock(low).first),
            .last = std::min(left.last, RangeOfBlock(high).last)};
}

}  // namespace

SeqRange RangeOfBlock(std::int64_t block) {
    constexpr std::int64_t kSize = std::int64_t{1} << kEventBlockBits;
    const std::int64_t first = block * kSize;
    return {.first = first, .last = first + kSize - 1};
}

bool DropUpTo(SeqRange& range, std::int64_t seq, bool descending) {
    if (descending ? seq <= range.first : seq >= range.last) return false;
    if (descending) {
        range.last = std::min(range.last, seq - 1);
    } else {
        range.first = std::max(range.first, seq + 1);
    }
    return true;
}

bool HasSpan(const EventList& list) {
    return list.filter.from.has_value() || list.filter.until.has_value();
}

Result<std::vector<model::AuditEvent>> ListEventsOfSpan(const EventList& list,
                                                        const EventWindowReads& reads) {
    std::vector<model::AuditEvent> events;
    SeqRange left;
    if (list.after && !DropUpTo(left, *list.after, list.descending)) return events;
    for (std::int64_t blocks = 1;; blocks = std::min(blocks * 2, kLastBlock)) {
        KSANA_TRY(const auto block, reads.nearest_block(left));
        if (!block) return events;
        const SeqRange window = Window(list, left, *block, blocks);
        KSANA_TRY(auto found, reads.within(window, list.limit - events.size()));
        std::ranges::move(found, std::back_inserter(events));
        if (events.size() >= list.limit) return events;
        const std::int64_t end = list.descending ? window.first : window.last;
        if (!DropUpTo(left, end, list.descending)) return events;
    }
}

}  // namespace ksana::store_kit

#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace ksana::store_memory {

// A sorted set of small values in blocks of a few hundred: 8 bytes for a pointer, where a node of
// std::set takes 64. Add and Remove move half a block on average, and rarely the list of
// blocks. Values are ordered by Less, and no two may be equal. Not thread-safe.
template <class Value, class Less>
class SortedBlocks {
  public:
    bool empty() const { return blocks_.empty(); }
    const Value& front() const { return blocks_.front().front(); }

    // Calls `body` for each value in order until it returns false.
    template <class Body>
    void Walk(Body&& body) const {
        for (const Block& block : blocks_) {
            for (const Value& value : block) {
                if (!body(value)) return;
            }
        }
    }

    void Add(Value value) {
        if (blocks_.empty()) blocks_.emplace_back();
        auto block = BlockOf(value);
        const bool at_the_end = block == blocks_.end();
        if (at_the_end) --block;
        if (block->size() == kMost) block = Split(block, value, at_the_end);
        block->insert(std::lower_bound(block->begin(), block->end(), value, Less{}),
                      std::move(value));
    }

    // Does nothing if the value is not in the set.
    void Remove(const Value& value) {
        const auto block = BlockOf(value);
        if (block == blocks_.end()) return;
        const auto place = std::lower_bound(block->begin(), block->end(), value, Less{});
        if (Less{}(value, *place)) return;
        block->erase(place);
        Tidy(block);
    }

  private:
    using Block = std::vector<Value>;
    using Place = typename std::vector<Block>::iterator;
    static constexpr std::size_t kMost = 512;

    // Returns the first block whose last value is not less than `value`.
    Place BlockOf(const Value& value) {
        return std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& block) {
            return !block.empty() && Less{}(block.back(), value);
        });
    }

    // Makes room in a full block and returns the block that `value` belongs to. Values added in
    // ascending order leave full blocks behind.
    Place Split(Place block, const Value& value, bool at_the_end) {
        if (at_the_end) return blocks_.emplace(blocks_.end());
        const auto middle = block->begin() + kMost / 2;
        Block second(middle, block->end());
        block->erase(middle, block->end());
        const auto next = blocks_.insert(block + 1, std::move(second));
        return Less{}(value, next->front()) ? next - 1 : next;
    }

    // Merges a small block with the next one and removes an empty block.
    void Tidy(Place block) {
        const auto next = block + 1;
        if (next != blocks_.end() && block->size() + next->size() <= kMost / 2) {
            next->insert(next->begin(), block->begin(), block->end());
            block->clear();
        }
        if (block->empty()) blocks_.erase(block);
    }

    // Each sorted; all values of a block are less than those of the next.
    std::vector<Block> blocks_;
};

}  // namespace ksana::store_memory

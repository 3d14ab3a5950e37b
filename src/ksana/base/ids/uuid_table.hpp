#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/uuid.hpp"

namespace ksana {

// A hash map from ids to small values: open addressing, without an allocation per entry, for
// entries that come and go with every run. The nil id marks free slots and cannot be a key. Not
// thread-safe.
template <class Value>
class UuidTable {
  public:
    std::size_t size() const { return size_; }

    // Returns null if the id is absent. The pointer is valid until the next change of the table.
    Value* Find(const Uuid& id) {
        if (slots_.empty()) return nullptr;
        Slot& slot = slots_[PlaceOf(id)];
        return slot.id == id ? &slot.value : nullptr;
    }
    // Inserts or replaces the value.
    void Put(const Uuid& id, Value value) {
        KSANA_CHECK(!id.IsNil(), "the nil id stands for nobody");
        if (2 * (size_ + 1) > slots_.size()) Grow();
        Slot& slot = slots_[PlaceOf(id)];
        if (slot.id != id) ++size_;
        slot = {id, std::move(value)};
    }
    // Returns whether the id was present.
    bool Erase(const Uuid& id) {
        if (Find(id) == nullptr) return false;
        CloseGap(PlaceOf(id));
        --size_;
        return true;
    }
    void Clear() {
        if (std::exchange(size_, 0) != 0) slots_ = {};
    }

  private:
    struct Slot {
        Uuid id;
        Value value{};
    };

    std::size_t HomeOf(const Uuid& id) const { return UuidHash()(id) & (slots_.size() - 1); }
    std::size_t After(std::size_t place) const { return (place + 1) & (slots_.size() - 1); }
    // Returns the slot that holds the id, or the free slot for it. Half of the slots are free, so
    // the search ends.
    std::size_t PlaceOf(const Uuid& id) const {
        std::size_t place = HomeOf(id);
        while (slots_[place].id != id && !slots_[place].id.IsNil()) place = After(place);
        return place;
    }
    // Fills the gap that Erase leaves: moves back every following entry whose probe sequence
    // crosses the gap.
    void CloseGap(std::size_t gap) {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t next = After(gap); !slots_[next].id.IsNil(); next = After(next)) {
            const std::size_t way = (next - HomeOf(slots_[next].id)) & mask;
            if (way < ((next - gap) & mask)) continue;  // its home lies after the gap
            slots_[gap] = std::move(slots_[next]);
            gap = next;
        }
        slots_[gap] = {};
    }
    void Grow() {
        constexpr std::size_t kLeast = 64;
        std::vector<Slot> old(slots_.empty() ? kLeast : 2 * slots_.size());
        old.swap(slots_);
        for (Slot& slot : old) {
            if (!slot.id.IsNil()) slots_[PlaceOf(slot.id)] = std::move(slot);
        }
    }

    std::vector<Slot> slots_;  // the size is a power of two, or 0
    std::size_t size_ = 0;
};

}  // namespace ksana

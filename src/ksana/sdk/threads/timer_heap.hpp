#pragma once

#include <cstdint>
#include <vector>

#include "ksana/work_item.hpp"

namespace ksana::sdk {

using detail::WorkItem;

// Work items ordered by the time at which they are due. Each item knows its place, so that it can
// be taken out again. Four children per node: half as many cache misses as with two. Not
// thread-safe.
class TimerHeap {
  public:
    bool empty() const { return slots_.empty(); }
    std::size_t size() const { return slots_.size(); }
    // The time of the first item; only if there is one.
    std::int64_t first_time() const { return slots_.front().when; }

    // Adds the item, or moves it if it is in the heap already.
    void Put(WorkItem& item, std::int64_t when);
    // Returns whether the item was in the heap.
    bool Remove(WorkItem& item);
    // Takes out the first item; only if there is one.
    WorkItem& TakeFirst();

  private:
    // A copy of the time beside the pointer: comparing touches the heap's own memory only.
    struct Slot {
        std::int64_t when;
        WorkItem* item;
    };

    void Set(std::size_t place, Slot slot);
    void MoveUp(std::size_t place, Slot slot);
    void MoveDown(std::size_t place, Slot slot);
    void RemoveAt(std::size_t place);

    std::vector<Slot> slots_;
};

}  // namespace ksana::sdk

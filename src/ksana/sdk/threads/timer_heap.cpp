#include "ksana/sdk/threads/timer_heap.hpp"

#include <algorithm>

namespace ksana::sdk {
namespace {

constexpr std::size_t kChildren = 4;

}  // namespace

void TimerHeap::Set(std::size_t place, Slot slot) {
    slots_[place] = slot;
    slot.item->place = static_cast<std::uint32_t>(place);
}

void TimerHeap::MoveUp(std::size_t place, Slot slot) {
    while (place > 0) {
        const std::size_t parent = (place - 1) / kChildren;
        if (slots_[parent].when <= slot.when) break;
        Set(place, slots_[parent]);
        place = parent;
    }
    Set(place, slot);
}

void TimerHeap::MoveDown(std::size_t place, Slot slot) {
    for (;;) {
        const std::size_t first = place * kChildren + 1;
        if (first >= slots_.size()) break;
        const std::size_t end = std::min(first + kChildren, slots_.size());
        std::size_t least = first;
        for (std::size_t child = first + 1; child < end; ++child) {
            if (slots_[child].when < slots_[least].when) least = child;
        }
        if (slot.when <= slots_[least].when) break;
        Set(place, slots_[least]);
        place = least;
    }
    Set(place, slot);
}

void TimerHeap::Put(WorkItem& item, std::int64_t when) {
    item.when = when;
    const Slot slot{when, &item};
    if (item.place == WorkItem::kNoPlace) {
        slots_.push_back(slot);
        MoveUp(slots_.size() - 1, slot);
        return;
    }
    const std::size_t place = item.place;
    if (when < slots_[place].when) {
        MoveUp(place, slot);
    } else {
        MoveDown(place, slot);
    }
}

bool TimerHeap::Remove(WorkItem& item) {
    if (item.place == WorkItem::kNoPlace) return false;
    RemoveAt(item.place);
    return true;
}

WorkItem& TimerHeap::TakeFirst() {
    WorkItem& item = *slots_.front().item;
    RemoveAt(0);
    return item;
}

void TimerHeap::RemoveAt(std::size_t place) {
    slots_[place].item->place = WorkItem::kNoPlace;
    const Slot last = slots_.back();
    slots_.pop_back();
    if (place == slots_.size()) return;
    if (place > 0 && last.when < slots_[(place - 1) / kChildren].when) {
        MoveUp(place, last);
    } else {
        MoveDown(place, last);
    }
}

}  // namespace ksana::sdk

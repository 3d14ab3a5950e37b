#pragma once

#include <cstdint>

namespace ksana::detail {

// Something for the threads of a scheduler to do, now or at a time. It is a link of their queues
// itself, so that neither a fire nor a sleep allocates memory. It must not move or be destroyed
// while it waits in a queue. Internal to the library.
struct WorkItem {
    using Body = void (*)(WorkItem& item);

    explicit WorkItem(Body body) : run(body) {}
    WorkItem(const WorkItem&) = delete;
    WorkItem& operator=(const WorkItem&) = delete;

    static constexpr std::uint32_t kNoPlace = UINT32_MAX;

    const Body run;                  // called on one of the threads
    WorkItem* next = nullptr;        // in the queue of ready items
    std::int64_t when = 0;           // steady nanoseconds; for an item in the heap
    std::uint32_t place = kNoPlace;  // its index in the heap of waiting items
    bool queued = false;             // in the queue of ready items
    bool due = false;                // its time has come; false: it was taken out of the heap early
};

}  // namespace ksana::detail

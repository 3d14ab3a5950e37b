#include "ksana/sdk/threads/timer_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "ksana/base/ids/random.hpp"

namespace ksana::sdk {
namespace {

void Nothing(WorkItem&) {}

TEST(TimerHeap, GivesItemsInTheOrderOfTheirTimes) {
    TimerHeap heap;
    std::deque<WorkItem> items;
    SeededRandom random(1);
    std::vector<std::int64_t> times;
    for (int n = 0; n < 2000; ++n) {
        times.push_back(static_cast<std::int64_t>(random.Below(500)));
        heap.Put(items.emplace_back(Nothing), times.back());
    }
    std::ranges::sort(times);
    for (const std::int64_t time : times) {
        EXPECT_EQ(heap.first_time(), time);
        WorkItem& first = heap.TakeFirst();
        EXPECT_EQ(first.when, time);
        EXPECT_EQ(first.place, WorkItem::kNoPlace);
    }
    EXPECT_TRUE(heap.empty());
}

// Against a sorted map, with items that are moved and taken out at random.
TEST(TimerHeap, ItemsCanBeMovedAndTakenOut) {
    TimerHeap heap;
    std::deque<WorkItem> items;
    for (int n = 0; n < 100; ++n) items.emplace_back(Nothing);
    std::map<WorkItem*, std::int64_t> expected;
    SeededRandom random(2);
    for (int step = 0; step < 20'000; ++step) {
        WorkItem& item = items[random.Below(items.size())];
        if (random.Below(3) == 0) {
            EXPECT_EQ(heap.Remove(item), expected.erase(&item) == 1);
        } else {
            const auto when = static_cast<std::int64_t>(random.Below(1000));
            heap.Put(item, when);
            expected[&item] = when;
        }
        ASSERT_EQ(heap.size(), expected.size());
        if (expected.empty()) continue;
        const auto least =
            std::ranges::min_element(expected, {}, [](const auto& entry) { return entry.second; });
        ASSERT_EQ(heap.first_time(), least->second) << "step " << step;
    }
}

}  // namespace
}  // namespace ksana::sdk

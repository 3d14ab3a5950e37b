#include "ksana/server/start_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "ksana/base/loop_thread.hpp"

namespace ksana::server {
namespace {

// Pages of files that are mapped, by /proc/self/statm.
long FilePages() {
    std::ifstream file("/proc/self/statm");
    long size = 0;
    long resident = 0;
    long shared = 0;
    file >> size >> resident >> shared;
    return shared;
}

TEST(StartMemory, CodeIsGivenBackWhileOthersRun) {
    std::atomic<std::size_t> rounds = 0;
    LoopThread other("other", [&](const std::stop_token& stop) {
        std::vector<int> numbers(1000);
        while (!stop.stop_requested()) {
            std::iota(numbers.begin(), numbers.end(), 0);
            if (std::accumulate(numbers.begin(), numbers.end(), 0) == 499'500) ++rounds;
        }
    });
    ASSERT_TRUE(other.Start());
    const long before = FilePages();
    long least = before;
    for (int i = 0; i < 20; ++i) {
        ReleaseStartMemory();
        least = std::min(least, FilePages());
    }
    while (rounds == 0) std::this_thread::yield();
    other.Stop();
    EXPECT_GT(before, 0);
    EXPECT_LT(least, before);
}

// What was written stays: data is not code.
TEST(StartMemory, DataIsLeftAlone) {
    static std::vector<int> kept = {1, 2, 3};
    static int initialised = 7;
    initialised = 8;
    const auto on_heap = std::make_unique<std::string>(100'000, 'x');
    ReleaseStartMemory();
    EXPECT_EQ(kept, (std::vector{1, 2, 3}));
    EXPECT_EQ(initialised, 8);
    EXPECT_EQ(*on_heap, std::string(100'000, 'x'));
}

}  // namespace
}  // namespace ksana::server

#include "ksana/store/change_feed.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ksana::store {
namespace {

TEST(ChangeFeed, TellsWhatWasAskedFor) {
    ChangeFeed feed;
    std::vector<Topics> told;
    auto subscription = feed.Subscribe(Topic::kJobs | Topic::kReady,
                                       [&](Topics topics) { told.push_back(topics); });
    feed.Publish(Topic::kCancel);
    feed.Publish(Topics());
    feed.Publish(Topic::kReady | Topic::kCancel);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0], Topics(Topic::kReady));
    auto moved = std::move(subscription);
    feed.Publish(Topic::kJobs);
    EXPECT_EQ(told.size(), 2U);
    moved = {};
    feed.Publish(Topic::kJobs);
    EXPECT_EQ(told.size(), 2U);
}

// After a subscription has ended, its listener is not running.
TEST(ChangeFeed, EndsUnderLoad) {
    ChangeFeed feed;
    std::atomic<bool> stop = false;
    std::jthread publisher([&] {
        while (!stop) feed.Publish(Topic::kJobs);
    });
    for (int i = 0; i < 200; ++i) {
        auto alive = std::make_unique<std::atomic<int>>(0);
        {
            const auto subscription = feed.Subscribe(Topics::All(), [&alive](Topics) { ++*alive; });
            while (*alive == 0) std::this_thread::yield();
        }
        alive.reset();
    }
    stop = true;
}

}  // namespace
}  // namespace ksana::store

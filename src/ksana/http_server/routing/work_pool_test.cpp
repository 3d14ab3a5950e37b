#include "ksana/http_server/routing/work_pool.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>

namespace ksana::http_server {
namespace {

std::size_t PoolThreads() {
    std::size_t count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm"), name);
        if (name.starts_with("http_pool_")) ++count;
    }
    return count;
}

bool Submit(WorkPool& pool) {
    Work work{nullptr, {}, Reply([](const Response&) {}, "/", "id")};
    return pool.TrySubmit(work);
}

TEST(WorkPoolTest, WhatComesTogetherRunsTogether) {
    constexpr std::ptrdiff_t kThreads = 3;
    std::barrier meet(kThreads);
    std::latch done(2 * kThreads);
    WorkPool pool({.threads = kThreads, .queue = 10}, [&](const Work& /*work*/) {
        meet.arrive_and_wait();  // passes only with three threads at once
        done.count_down();
    });
    ASSERT_TRUE(pool.Start());
    for (std::ptrdiff_t i = 0; i < 2 * kThreads; ++i) ASSERT_TRUE(Submit(pool));
    done.wait();
    EXPECT_EQ(PoolThreads(), 3U);
    pool.Stop();
    EXPECT_EQ(PoolThreads(), 0U);
}

TEST(WorkPoolTest, WithLittleToDoThereIsOneThread) {
    std::latch first(1);
    WorkPool pool({.threads = 8, .queue = 10}, [&](const Work& /*work*/) { first.count_down(); });
    ASSERT_TRUE(pool.Start());
    ASSERT_TRUE(Submit(pool));
    first.wait();
    EXPECT_LE(PoolThreads(), 2U) << "a second where the first had not yet begun to wait";
}

TEST(WorkPoolTest, AfterAStopItCanBeStartedAgain) {
    WorkPool pool({.threads = 2, .queue = 2}, [](const Work& /*work*/) {});
    ASSERT_TRUE(pool.Start());
    pool.Stop();
    EXPECT_TRUE(Submit(pool)) << "it waits, or is dropped with the next stop";
    EXPECT_EQ(PoolThreads(), 0U) << "nothing is begun any more";
    std::latch ran(1);
    WorkPool other({.threads = 1, .queue = 1}, [&](const Work& /*work*/) { ran.count_down(); });
    ASSERT_TRUE(other.Start());
    ASSERT_TRUE(other.Start()) << "it has all its threads already";
    other.Stop();
    ASSERT_TRUE(other.Start());
    ASSERT_TRUE(Submit(other));
    ran.wait();
}

}  // namespace
}  // namespace ksana::http_server

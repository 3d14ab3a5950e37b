#include "locks/lock_fixture.hpp"

// G-06: one holder at a time, under a fence that only grows.

namespace ksana::locks {
namespace {

using lock::Grant;

Code CodeOf(const Result<void>& result) { return result ? Code::kInternal : result.error().code; }
Code CodeOf(const Result<Grant>& result) { return result ? Code::kInternal : result.error().code; }

TEST_P(LockTest, AFreeLockIsGranted) {
    const auto grant = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(grant);
    EXPECT_TRUE(driver_->Release(Request("a", "t1"), grant->fence));
    EXPECT_FALSE(driver_->Location().empty());
}

TEST_P(LockTest, ASecondHolderIsRefused) {
    const auto grant = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(grant);
    EXPECT_FALSE(Take(*other_, Request("a", "t2")));
    EXPECT_FALSE(Take(*driver_, Request("a", "t2"))) << "on the same connection neither";
    EXPECT_FALSE(Take(*driver_, Request("a", "T1"))) << "tokens are case-sensitive";
    EXPECT_TRUE(Take(*other_, Request("b", "t2"))) << "another key is another lock";
    EXPECT_TRUE(driver_->Renew(Request("a", "t1"), grant->fence)) << "a refusal changes nothing";
}

TEST_P(LockTest, AReleaseFrees) {
    const auto first = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(first);
    ASSERT_TRUE(driver_->Release(Request("a", "t1"), first->fence));
    EXPECT_EQ(CodeOf(driver_->Release(Request("a", "t1"), first->fence)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver_->Renew(Request("a", "t1"), first->fence)), Code::kLeaseLost);
    const auto second = Take(*other_, Request("a", "t2"));
    ASSERT_TRUE(second);
    EXPECT_GT(second->fence, first->fence);
}

TEST_P(LockTest, AWrongTokenOrFenceChangesNothing) {
    const auto grant = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(grant);
    for (lock::LockDriver* driver : {driver_.get(), other_.get()}) {
        EXPECT_EQ(CodeOf(driver->Release(Request("a", "t2"), grant->fence)), Code::kLeaseLost);
        EXPECT_EQ(CodeOf(driver->Renew(Request("a", "t2"), grant->fence)), Code::kLeaseLost);
        for (const std::int64_t fence : {grant->fence - 1, grant->fence + 1, std::int64_t{-1}}) {
            EXPECT_EQ(CodeOf(driver->Release(Request("a", "t1"), fence)), Code::kLeaseLost);
            EXPECT_EQ(CodeOf(driver->Renew(Request("a", "t1"), fence)), Code::kLeaseLost);
        }
    }
    EXPECT_FALSE(Take(*other_, Request("a", "t2"))) << "nothing was freed";
    EXPECT_TRUE(driver_->Renew(Request("a", "t1"), grant->fence));
    EXPECT_TRUE(driver_->Release(Request("a", "t1"), grant->fence));
}

TEST_P(LockTest, ALockThatWasNeverHeldIsLost) {
    EXPECT_EQ(CodeOf(driver_->Renew(Request("never", "t1"), 1)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver_->Release(Request("never", "t1"), 1)), Code::kLeaseLost);
    EXPECT_TRUE(Take(*driver_, Request("never", "t1")));
}

TEST_P(LockTest, TheSameTokenIsGrantedAgain) {
    const auto first = Take(*driver_, Request("a", "t1"));
    const auto second = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(first && second);
    EXPECT_GT(second->fence, first->fence);
    EXPECT_EQ(CodeOf(driver_->Renew(Request("a", "t1"), first->fence)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver_->Release(Request("a", "t1"), first->fence)), Code::kLeaseLost);
    EXPECT_FALSE(Take(*other_, Request("a", "t2")));
    // A process that lost its connection asks on another one.
    const auto third = Take(*other_, Request("a", "t1"));
    ASSERT_TRUE(third);
    EXPECT_GT(third->fence, second->fence);
    EXPECT_TRUE(driver_->Release(Request("a", "t1"), third->fence));
    EXPECT_TRUE(Take(*other_, Request("a", "t2")));
}

TEST_P(LockTest, TheFenceGrowsOverReleases) {
    std::int64_t last = 0;
    for (int i = 0; i < 5; ++i) {
        const std::string token = "t" + std::to_string(i);
        lock::LockDriver& driver = i % 2 == 0 ? *driver_ : *other_;
        const auto grant = Take(driver, Request("a", token));
        ASSERT_TRUE(grant);
        EXPECT_GT(grant->fence, last);
        last = grant->fence;
        ASSERT_TRUE(driver.Release(Request("a", token), grant->fence));
    }
}

TEST_P(LockTest, AnExpiredLockIsFree) {
    const auto first = Take(*driver_, Request("a", "t1", ShortTtl()));
    ASSERT_TRUE(first);
    const auto second = TakeAfter(ShortTtl(), *other_, Request("a", "t2"));
    ASSERT_TRUE(second);
    EXPECT_GT(second->fence, first->fence);
    for (const std::int64_t fence : {first->fence, second->fence}) {
        EXPECT_EQ(CodeOf(driver_->Renew(Request("a", "t1"), fence)), Code::kLeaseLost);
        EXPECT_EQ(CodeOf(driver_->Release(Request("a", "t1"), fence)), Code::kLeaseLost);
    }
    EXPECT_FALSE(Take(*driver_, Request("a", "t1"))) << "a late release frees nothing";
    EXPECT_TRUE(other_->Renew(Request("a", "t2"), second->fence));
    EXPECT_TRUE(other_->Release(Request("a", "t2"), second->fence));
    const auto third = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(third);
    EXPECT_GT(third->fence, second->fence);
}

TEST_P(LockTest, AnExpiredLockCannotBeRenewed) {
    const auto first = Take(*driver_, Request("a", "t1", ShortTtl()));
    ASSERT_TRUE(first);
    // The lock beside it is taken later for the same time, so it expires later.
    ASSERT_TRUE(Take(*driver_, Request("beside", "t1", ShortTtl())));
    ASSERT_TRUE(TakeAfter(ShortTtl(), *other_, Request("beside", "t2")));
    EXPECT_EQ(CodeOf(driver_->Renew(Request("a", "t1"), first->fence)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver_->Release(Request("a", "t1"), first->fence)), Code::kLeaseLost);
    const auto again = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(again);
    EXPECT_GT(again->fence, first->fence);
}

TEST_P(LockTest, ARenewalExtendsTheLock) {
    // A busy machine may let the first TTL pass before the renewal: tried again with a longer one.
    Duration ttl = ShortTtl();
    for (int round = 0; round < 6; ++round, ttl *= 2) {
        const std::string name = "a" + std::to_string(round);
        const SteadyPoint before = clock_.SteadyNow();
        const auto grant = Take(*driver_, Request(name, "t1", ttl));
        ASSERT_TRUE(grant);
        const auto renewed = driver_->Renew(Request(name, "t1"), grant->fence);
        if (!renewed && clock_.SteadyNow() - before >= ttl) continue;
        ASSERT_TRUE(renewed) << renewed.error().Describe();
        EXPECT_EQ(renewed->fence, grant->fence);
        EXPECT_GT(renewed->valid_for, ttl);
        EXPECT_LE(renewed->valid_for, kLong);
        // Taken after the renewed one, for its first TTL.
        ASSERT_TRUE(Take(*driver_, Request(name + "beside", "t1", ttl)));
        ASSERT_TRUE(TakeAfter(ttl, *other_, Request(name + "beside", "t2")));
        EXPECT_FALSE(Take(*other_, Request(name, "t2")));
        EXPECT_TRUE(driver_->Release(Request(name, "t1"), grant->fence));
        return;
    }
    FAIL() << "no renewal came in time";
}

TEST_P(LockTest, AnotherGrantExtendsTheLock) {
    ASSERT_TRUE(Take(*driver_, Request("a", "t1", ShortTtl())));
    const auto again = Take(*driver_, Request("a", "t1"));
    ASSERT_TRUE(again);
    ASSERT_TRUE(Take(*driver_, Request("beside", "t1", ShortTtl())));
    ASSERT_TRUE(TakeAfter(ShortTtl(), *other_, Request("beside", "t2")));
    EXPECT_FALSE(Take(*other_, Request("a", "t2")));
    EXPECT_TRUE(driver_->Release(Request("a", "t1"), again->fence));
}

}  // namespace
}  // namespace ksana::locks

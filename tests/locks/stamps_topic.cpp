#include <limits>

#include "locks/lock_fixture.hpp"

// A stamp is used once: a process whose clock is behind cannot hold the lock for a fire that
// another one has already made.

namespace ksana::locks {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Expects a refusal that tells the remembered stamp.
void ExpectUsed(lock::LockDriver& driver, const lock::LockRequest& request, std::int64_t last) {
    const auto answer = driver.Try(request);
    ASSERT_TRUE(answer) << answer.error().Describe();
    EXPECT_FALSE(answer->grant) << "stamp " << *request.stamp << " after " << last;
    EXPECT_EQ(answer->last_stamp, last);
}

TEST_P(LockTest, AStampIsGrantedOnce) {
    const auto first = Take(*driver_, Stamped("a", "t1", 100));
    ASSERT_TRUE(first);
    ExpectUsed(*other_, Stamped("a", "t2", 100), 100);
    ExpectUsed(*other_, Stamped("a", "t2", 99), 100);
    ExpectUsed(*driver_, Stamped("a", "t1", 100), 100);
    EXPECT_TRUE(driver_->Renew(Stamped("a", "t1", 1), first->fence)) << "no stamp for a renewal";
    ASSERT_TRUE(driver_->Release(Stamped("a", "t1", 1), first->fence));
    ExpectUsed(*driver_, Stamped("a", "t1", 100), 100);
    ExpectUsed(*other_, Stamped("a", "t2", 99), 100);
    const auto second = Take(*other_, Stamped("a", "t2", 101));
    ASSERT_TRUE(second);
    EXPECT_GT(second->fence, first->fence);
    ExpectUsed(*driver_, Stamped("a", "t1", 101), 101);
}

TEST_P(LockTest, AStampIsRememberedAfterTheExpiry) {
    lock::LockRequest request = Stamped("a", "t1", 7);
    request.ttl = ShortTtl();
    ASSERT_TRUE(Take(*driver_, request));
    ASSERT_TRUE(Take(*driver_, Request("beside", "t1", ShortTtl())));
    ASSERT_TRUE(TakeAfter(ShortTtl(), *other_, Request("beside", "t2")));
    ExpectUsed(*other_, Stamped("a", "t2", 7), 7);
    ExpectUsed(*other_, Stamped("a", "t2", 6), 7);
    EXPECT_TRUE(Take(*other_, Stamped("a", "t2", 8)));
}

TEST_P(LockTest, ARefusedStampIsNotRemembered) {
    const auto first = Take(*driver_, Stamped("a", "t1", 1));
    ASSERT_TRUE(first);
    const auto refused = other_->Try(Stamped("a", "t2", 2));
    ASSERT_TRUE(refused) << refused.error().Describe();
    EXPECT_FALSE(refused->grant) << "held";
    EXPECT_EQ(refused->last_stamp.value_or(1), 1);
    ASSERT_TRUE(driver_->Release(Stamped("a", "t1", 1), first->fence));
    EXPECT_TRUE(Take(*other_, Stamped("a", "t2", 2)));
}

TEST_P(LockTest, RequestsWithoutAStampDoNotCare) {
    const auto first = Take(*driver_, Stamped("a", "t1", 50));
    ASSERT_TRUE(first);
    EXPECT_FALSE(Take(*other_, Request("a", "t2")));
    ASSERT_TRUE(driver_->Release(Request("a", "t1"), first->fence));
    const auto second = Take(*other_, Request("a", "t2"));
    ASSERT_TRUE(second);
    ASSERT_TRUE(other_->Release(Request("a", "t2"), second->fence));
    ExpectUsed(*driver_, Stamped("a", "t1", 50), 50);
    EXPECT_TRUE(Take(*driver_, Stamped("a", "t1", 51)));
}

TEST_P(LockTest, StampsBelongToTheirKey) {
    ASSERT_TRUE(Take(*driver_, Stamped("a", "t1", 1000)));
    EXPECT_TRUE(Take(*other_, Stamped("b", "t2", 1)));
    EXPECT_TRUE(Take(*other_, Stamped("A", "t2", 1)));
    const auto fresh = Take(*driver_, Request("c", "t1"));
    ASSERT_TRUE(fresh);
    ASSERT_TRUE(driver_->Release(Request("c", "t1"), fresh->fence));
    EXPECT_TRUE(Take(*other_, Stamped("c", "t2", 0))) << "a key without a stamp remembers none";
}

// Microseconds of our time need 51 bits; a server that counts in floating point fails here.
TEST_P(LockTest, EveryNumberCanBeAStamp) {
    const std::int64_t stamps[] = {-kMost,    -1,        0,    1, 1'790'000'000'000'000,
                                   kMost - 2, kMost - 1, kMost};
    for (const std::int64_t stamp : stamps) {
        EXPECT_TRUE(Take(*driver_, Stamped("a", "t1", stamp))) << stamp;
        ExpectUsed(*driver_, Stamped("a", "t1", stamp), stamp);
        ExpectUsed(*driver_, Stamped("a", "t1", stamp - 1), stamp);
    }
}

}  // namespace
}  // namespace ksana::locks

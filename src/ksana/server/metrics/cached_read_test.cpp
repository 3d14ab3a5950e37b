#include "ksana/server/metrics/cached_read.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana::server {
namespace {

class CachedReadTest : public testing::Test {
  protected:
    Result<int> Read() {
        clock_.Advance(took_);
        ++reads_;
        if (fails_) return Error(Code::kUnavailable, "no store");
        return reads_;
    }

    FakeClock clock_;
    Duration took_{};
    int reads_ = 0;
    bool fails_ = false;
    CachedRead<int> cached_{clock_, [this] { return Read(); }};
};

TEST_F(CachedReadTest, IsReadAgainOnlyAfterAWhile) {  // D-14
    EXPECT_EQ(*cached_.Get(), 1);
    clock_.Advance(CachedRead<int>::kFresh - std::chrono::milliseconds(1));
    EXPECT_EQ(*cached_.Get(), 1);
    clock_.Advance(std::chrono::milliseconds(1));
    EXPECT_EQ(*cached_.Get(), 2);
}

TEST_F(CachedReadTest, TheMoreItCostsTheRarerItIs) {
    took_ = std::chrono::seconds(1);
    EXPECT_EQ(*cached_.Get(), 1);
    clock_.Advance(std::chrono::seconds(CachedRead<int>::kRarer - 1));
    EXPECT_EQ(*cached_.Get(), 1);
    clock_.Advance(std::chrono::seconds(1));
    EXPECT_EQ(*cached_.Get(), 2);
}

TEST_F(CachedReadTest, AStoreThatFailsIsNotAskedMoreOften) {
    fails_ = true;
    EXPECT_EQ(cached_.Get(), nullptr);
    EXPECT_EQ(cached_.Get(), nullptr);
    EXPECT_EQ(reads_, 1);
    fails_ = false;
    clock_.Advance(CachedRead<int>::kFresh);
    EXPECT_EQ(*cached_.Get(), 2);
}

}  // namespace
}  // namespace ksana::server

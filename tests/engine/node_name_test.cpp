#include "ksana/engine/nodes/node_name.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A clock whose waits pass at once.
class RunningClock final : public Clock {
  public:
    explicit RunningClock(FakeClock& inner) : inner_(inner) {}
    TimePoint Now() const override { return inner_.Now(); }
    SteadyPoint SteadyNow() const override { return inner_.SteadyNow(); }
    WaitOutcome Wait(Wakeup&, SteadyPoint deadline, const std::stop_token&) override {
        inner_.Advance(std::chrono::duration_cast<Duration>(deadline - inner_.SteadyNow()));
        if (on_wait) on_wait();
        return WaitOutcome::kDeadline;
    }
    std::function<void()> on_wait;

  private:
    FakeClock& inner_;
};

class NodeNameTest : public ::testing::Test {
  protected:
    NodeNameTest() : store_(store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_)) {}

    model::ServerNode Other() const {
        return {.name = "a", .incarnation = "1", .address = "http://other/", .lease = seconds(15)};
    }
    Result<void> Await() { return AwaitName(*store_, running_, {.name = "a", .incarnation = "2"}); }
    Duration Since(TimePoint begun) const { return clock_.Now() - begun; }

    FakeClock clock_;
    RunningClock running_{clock_};
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_;
};

TEST_F(NodeNameTest, AFreeNameIsTakenAtOnce) {
    const TimePoint begun = clock_.Now();
    EXPECT_TRUE(Await());
    ASSERT_TRUE(store_->nodes().Register(Other()));
    ASSERT_TRUE(store_->nodes().Leave("a", "1"));
    EXPECT_TRUE(Await()) << "the other has stopped";
    EXPECT_EQ(Since(begun), Duration{});
}

TEST_F(NodeNameTest, AServerThatLivesIsSeenByItsHeartbeat) {
    ASSERT_TRUE(store_->nodes().Register(Other()));
    const TimePoint begun = clock_.Now();
    running_.on_wait = [&] {
        if (Since(begun) >= seconds(5)) (void)store_->nodes().Beat(Other());
    };
    const auto refused = Await();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_NE(refused.error().message.find("http://other/"), std::string::npos);
    EXPECT_NE(refused.error().message.find("node_name"), std::string::npos);
    EXPECT_LT(Since(begun), seconds(6));
    EXPECT_EQ(store_->nodes().Get("a")->incarnation, "1") << "nothing was taken";
}

// The store cannot tell whether the process lives: its lease decides.
TEST_F(NodeNameTest, ALostServerIsAwaitedForItsLease) {
    ASSERT_TRUE(store_->nodes().Register(Other()));
    const TimePoint begun = clock_.Now();
    EXPECT_TRUE(Await());
    EXPECT_GE(Since(begun), seconds(15));
    EXPECT_LT(Since(begun), seconds(16));
}

}  // namespace
}  // namespace ksana::engine

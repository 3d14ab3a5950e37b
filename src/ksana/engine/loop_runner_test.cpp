#include "ksana/engine/loop_runner.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Keeps the steps that the runner reports. Read once the loop's thread sleeps.
class Steps final : public Observer {
  public:
    void Stepped(const LoopStep& step) override {
        const MutexLock lock(mutex_);
        late_.push_back(step.late);
        took_.push_back(step.took);
    }
    std::vector<std::optional<Duration>> late() const {
        const MutexLock lock(mutex_);
        return late_;
    }
    std::vector<Duration> took() const {
        const MutexLock lock(mutex_);
        return took_;
    }

  private:
    mutable Mutex mutex_;
    std::vector<std::optional<Duration>> late_ KSANA_GUARDED_BY(mutex_);
    std::vector<Duration> took_ KSANA_GUARDED_BY(mutex_);
};

class LoopRunnerTest : public ::testing::Test {
  protected:
    // Starts a loop that returns `step` for each call, and waits until it sleeps.
    void Run(std::function<Step()> step) {
        runner_ = std::make_unique<LoopRunner>(
            Loop{.name = "test",
                 .topics = {},
                 .hint = {},
                 .run_once = [step = std::move(step)]() -> Result<Step> { return step(); }},
            clock_, changes_, &steps_);
        ASSERT_TRUE(runner_->Start().has_value());
        clock_.AwaitWaiters(1);
    }
    void Pass(Duration time) {
        clock_.Advance(time);
        clock_.AwaitWaiters(1);
    }

    FakeClock clock_;
    store::ChangeFeed changes_;
    Steps steps_;
    std::unique_ptr<LoopRunner> runner_;
};

using Delays = std::vector<std::optional<Duration>>;

TEST_F(LoopRunnerTest, TellsHowLateAStepIsByTheWallClock) {  // D-14
    Run([this] {
        Step step;
        step.next = clock_.Now() + milliseconds(500);
        return step;
    });
    Pass(milliseconds(500));
    Pass(milliseconds(800));
    EXPECT_EQ(steps_.late(), (Delays{std::nullopt, Duration::zero(), milliseconds(300)}));
}

TEST_F(LoopRunnerTest, TellsHowLateAStepIsByTheSteadyClock) {
    Run([] {
        Step step;
        step.NotAfter(milliseconds(500));
        return step;
    });
    Pass(milliseconds(500));
    Pass(milliseconds(800));
    EXPECT_EQ(steps_.late(), (Delays{std::nullopt, Duration::zero(), milliseconds(300)}));
}

TEST_F(LoopRunnerTest, AStepThatNobodyHadWishedForIsNotLate) {
    Run([] { return Step(); });
    runner_->Wake();
    clock_.AwaitWaiters(1);
    Pass(LoopRunner::kLongestSleep + seconds(1));
    EXPECT_EQ(steps_.late(), (Delays{std::nullopt, std::nullopt, std::nullopt}));
}

TEST_F(LoopRunnerTest, TellsHowLongAStepTook) {
    Run([this] {
        clock_.Advance(milliseconds(70));
        return Step();
    });
    EXPECT_EQ(steps_.took(), std::vector<Duration>{milliseconds(70)});
}

}  // namespace
}  // namespace ksana::engine

#include "engine/lying_locks.hpp"

#include <thread>

#include "engine/alert_fixture.hpp"
#include "ksana/engine/node.hpp"
#include "ksana/engine/retention/retention.hpp"

// Nothing that matters rests on a lock.

namespace ksana::engine {
namespace {

using model::EventKind;
using std::chrono::minutes;
using std::chrono::seconds;
using test::LyingLocks;
using Lie = LyingLocks::Lie;

class LyingLocksTest : public AlerterTest {
  protected:
    // Lets two nodes evaluate the rules at the same time. One of them may lose the race for a
    // document; nothing else may fail.
    void LookTogether(Alerter& a, Alerter& b) {
        const auto look = [](Alerter& alerter) {
            const auto step = alerter.RunOnce();
            const bool fine = step || step.error().code == Code::kConflict ||
                              step.error().code == Code::kAlreadyExists ||
                              step.error().code == Code::kNotFound;
            EXPECT_TRUE(fine) << step.error().Describe();
        };
        for (int n = 0; n < 6; ++n) {
            clock_.Advance(seconds(2));
            const std::jthread one([&] { look(a); });
            const std::jthread two([&] { look(b); });
        }
    }
    void Finish(int count) {
        for (int i = 0; i < count; ++i) Run(EventKind::kSuccess);
        clock_.Advance(minutes(1));
    }
    std::int64_t Count() { return *store_->runs().Count({}, 1'000'000); }

    SystemRandom real_random_;  // thread-safe, unlike that of the other tests
    UuidGenerator real_ids_{clock_, real_random_};
};

TEST_F(LyingLocksTest, TwoNodesTellAnIncidentOnce) {
    LyingLocks lies(Lie::kGrantsToEverybody);
    Put(Rule());
    for (int round = 0; round < 20; ++round) {
        clock_.Advance(std::chrono::hours(2));  // notices about one subject are paced
        // Nodes that were just started.
        Alerter a(*store_, lies, zones_, clock_, real_ids_, {.owner = "a"});
        Alerter b(*store_, lies, zones_, clock_, real_ids_, {.owner = "b"});
        Run(EventKind::kPermanentFailure);
        Run(EventKind::kPermanentFailure);
        LookTogether(a, b);
        ASSERT_TRUE(Incident());
        EXPECT_EQ(Incident()->state, model::IncidentState::kOpen);
        EXPECT_EQ(Incident()->count, 2) << "a failure counts once, round " << round;
        EXPECT_EQ(Events().size(), 2 * round + 1U);
        EXPECT_FALSE(Incident()->owed);
        Run(EventKind::kSuccess);
        LookTogether(a, b);
        EXPECT_EQ(Incident()->state, model::IncidentState::kClosed);
        EXPECT_EQ(Events().size(), 2 * round + 2U);
    }
    Strings expected;
    for (int round = 0; round < 20; ++round) {
        expected.emplace_back("opened");
        expected.emplace_back("recovered");
    }
    EXPECT_EQ(Events(), expected);
}

TEST_F(LyingLocksTest, AlertsGoOnWhileTheLocksFail) {
    LyingLocks lies(Lie::kFails);
    Alerter a(*store_, lies, zones_, clock_, real_ids_, {.owner = "a"});
    Alerter b(*store_, lies, zones_, clock_, real_ids_, {.owner = "b"});
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    LookTogether(a, b);
    EXPECT_EQ(Events(), Strings{"opened"});
    EXPECT_EQ(Incident()->count, 1);
}

TEST_F(LyingLocksTest, AlertsGoOnWhenNobodyGetsTheLock) {
    LyingLocks lies(Lie::kGrantsToNobody);
    Alerter a(*store_, lies, zones_, clock_, real_ids_, {.owner = "a"});
    Alerter b(*store_, lies, zones_, clock_, real_ids_, {.owner = "b"});
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    LookTogether(a, b);
    EXPECT_TRUE(Events().empty()) << "a node that holds the lock may be at work";
    for (int n = 0; n < 20; ++n) LookTogether(a, b);
    EXPECT_EQ(Events(), Strings{"opened"});
    Run(EventKind::kSuccess);
    for (int n = 0; n < 20; ++n) LookTogether(a, b);
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
    EXPECT_EQ(Incident()->count, 1);
}

TEST_F(LyingLocksTest, RetentionByAgeNeedsNoLock) {
    for (const Lie lie : {Lie::kGrantsToEverybody, Lie::kGrantsToNobody, Lie::kFails}) {
        LyingLocks lies(lie);
        const auto before = Count();
        Retention a(*store_, lies, clock_, {.keep = minutes(10), .max_runs = 1000, .owner = "a"});
        Retention b(*store_, lies, clock_, {.keep = minutes(10), .max_runs = 1000, .owner = "b"});
        Finish(5);
        clock_.Advance(minutes(15));
        Finish(3);
        ASSERT_TRUE(a.RunOnce()) << "a lock that cannot be had is no failure";
        ASSERT_TRUE(b.RunOnce());
        EXPECT_EQ(Count(), before + 3);
        clock_.Advance(minutes(15));
        ASSERT_TRUE(a.RunOnce());
        EXPECT_EQ(Count(), before);
    }
}

TEST_F(LyingLocksTest, NothingIsTrimmedWithoutALock) {
    for (const Lie lie : {Lie::kGrantsToNobody, Lie::kFails}) {
        LyingLocks lies(lie);
        Retention a(*store_, lies, clock_, {.keep = {}, .max_runs = 2, .owner = "a"});
        Finish(5);
        const auto before = Count();
        ASSERT_TRUE(a.RunOnce());
        EXPECT_EQ(Count(), before);
    }
}

// The number of runs that are kept is the one thing that rests on the lock: each node that holds it
// may delete the excess that it counted. Runs that have not ended are never touched.
TEST_F(LyingLocksTest, TwoNodesTrimTheirExcessEach) {
    LyingLocks lies(Lie::kGrantsToEverybody);
    const auto options = [](const char* owner) {
        return Retention::Options{.keep = {}, .max_runs = 10, .owner = owner, .batch = 2};
    };
    Retention a(*store_, lies, clock_, options("a"));
    Retention b(*store_, lies, clock_, options("b"));
    const model::Run waits = Start();
    Finish(13);
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(a.RunOnce());
        ASSERT_TRUE(b.RunOnce());
    }
    EXPECT_LE(Count(), 11);
    EXPECT_GE(Count(), 1 + 10 - 3);
    EXPECT_TRUE(store_->runs().Get(waits.id));
}

TEST_F(LyingLocksTest, ANodeUsesTheLocksItIsGiven) {
    const auto alerts = [](Node& node) -> Result<Step> {
        for (const Loop& loop : node.loops()) {
            if (loop.name == "alerts") return loop.run_once();
        }
        return Error(Code::kInternal, "no such loop");
    };
    LyingLocks lies(Lie::kGrantsToNobody);
    NodeOptions options;
    options.ids = &ids_;
    Node own(*store_, {}, zones_, clock_, options, nullptr);
    options.locks = &lies;
    Node given(*store_, {}, zones_, clock_, options, nullptr);
    Put(Rule());
    Run(EventKind::kPermanentFailure);
    clock_.Advance(seconds(5));
    ASSERT_TRUE(alerts(given));
    EXPECT_TRUE(Events().empty());
    EXPECT_TRUE(store_->locks().List({})->items.empty());
    ASSERT_TRUE(alerts(own));
    EXPECT_EQ(Events(), Strings{"opened"});
    EXPECT_EQ(store_->locks().List({})->items.at(0).name, "alerter");
}

}  // namespace
}  // namespace ksana::engine

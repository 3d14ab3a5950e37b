// Limits that hold over several nodes: LimitTracker and LimitShares of each over one store.
#include "ksana/engine/limits/limit_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/engine/limits/agent_limits.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kKey = "group:g";

// One node, as far as limits see it: runs that wait for a limit, and attempts in progress.
class SmallNode {
  public:
    SmallNode(store::Store& store, Clock& clock, const std::string& owner)
        : clock_(clock),
          tracker_({.node_rate = {}, .breaker = {}, .name = owner, .shared = true}),
          shares_(store, tracker_, clock,
                  {.owner = owner,
                   .waiting =
                       [this] {
                           // The shares are read, and not written yet.
                           if (between) std::exchange(between, {})();
                           return std::map<std::string, std::size_t>{{kKey, waiting}};
                       },
                   .grown = [this] { ++grown; }}),
          subscription_(store.changes().Subscribe(
              store::Topic::kShares, [this](store::Topics) { due_ |= shares_.Hint(); })) {
        tracker_.OnShareNeed([this] { due_ = true; });
    }

    void Configure(const model::Limit& limit) {
        tracker_.Configure({{kKey, limit}});
        due_ = true;
    }

    // Starts waiting runs and calls the loop when a runner would. Returns the number of starts.
    int Step(bool store_answers = true) {
        int starts = 0;
        while (waiting > 0) {
            auto answer =
                tracker_.TryTake({.group = "g", .type = {}, .host = {}}, clock_.SteadyNow());
            if (answer.kind != LimitTracker::Answer::Kind::kGranted) break;
            --waiting;
            ++starts;
            tickets.push_back(std::move(answer.ticket));
        }
        if (store_answers && (due_ || clock_.SteadyNow() >= next_)) {
            due_ = false;
            const auto step = shares_.RunOnce();
            next_ = clock_.SteadyNow() + (step ? step->within.value_or(seconds(5)) : seconds(1));
            if (step && step->again) due_ = true;
        }
        return starts;
    }

    void EndOne(std::size_t which) {
        tracker_.GiveBack(tickets[which], clock_.SteadyNow());
        tickets.erase(tickets.begin() + static_cast<std::ptrdiff_t>(which));
    }
    void EndAll() {
        while (!tickets.empty()) EndOne(0);
    }
    void Leave() { shares_.Leave(); }
    LimitTracker& tracker() { return tracker_; }
    LimitUse Use() { return tracker_.Uses(clock_.SteadyNow()).at(0); }

    std::size_t waiting = 0;
    std::vector<LimitTracker::Ticket> tickets;
    int grown = 0;
    std::function<void()> between;  // called once, between the next read and its write

  private:
    Clock& clock_;
    LimitTracker tracker_;
    LimitShares shares_;
    bool due_ = true;
    SteadyPoint next_{};
    store::ChangeFeed::Subscription subscription_;
};

class LimitSharesTest : public ::testing::Test {
  protected:
    SmallNode& Add(const model::Limit& limit, store::Store* store = nullptr) {
        const std::string owner = "n/" + std::to_string(++made_);
        nodes_.push_back(
            std::make_unique<SmallNode>(store == nullptr ? *store_ : *store, clock_, owner));
        nodes_.back()->Configure(limit);
        return *nodes_.back();
    }
    void RunFor(Duration time, Duration step = milliseconds(10)) {
        const TimePoint end = clock_.Now() + time;
        while (clock_.Now() < end) {
            for (const auto& node : nodes_) node->Step();
            most_ = std::max(most_, InUse());
            clock_.Advance(step);
        }
    }
    std::size_t InUse() const {
        std::size_t sum = 0;
        for (const auto& node : nodes_) sum += node->tickets.size();
        return sum;
    }
    std::size_t Commits() {
        std::size_t commits = 0;
        const auto all = *ReadShares(*store_);
        for (const auto& [key, shares] : all) {
            commits += static_cast<std::size_t>(shares.version);
        }
        return commits;
    }

    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    std::vector<std::unique_ptr<SmallNode>> nodes_;
    int made_ = 0;
    std::size_t most_ = 0;
};

TEST_F(LimitSharesTest, NothingStartsBeforeTheFirstGrantAndThenAtOnce) {
    SmallNode& node = Add({.max_concurrency = 3});
    node.waiting = 5;
    EXPECT_EQ(node.Step(), 0);
    EXPECT_EQ(node.grown, 1) << "waiting runs are told";
    EXPECT_EQ(node.Step(), 3);
    EXPECT_EQ(node.Use().share->places, 3);
}

// Both have read that nobody holds anything; only the write that comes first counts.
TEST_F(LimitSharesTest, ANodeThatIsOvertakenGetsOnlyWhatIsLeft) {
    SmallNode& a = Add({.max_concurrency = 3});
    SmallNode& b = Add({.max_concurrency = 3});
    a.waiting = b.waiting = 5;
    a.between = [&] { b.Step(); };
    a.Step();
    EXPECT_EQ(a.Use().share->places + b.Use().share->places, 3);
    EXPECT_EQ(a.Step() + b.Step(), 3);
}

TEST_F(LimitSharesTest, TwoNodesNeverHaveMoreThanTheLimitAndBothGetTheirPart) {
    SmallNode& a = Add({.max_concurrency = 4});
    SmallNode& b = Add({.max_concurrency = 4});
    a.waiting = 100;
    RunFor(seconds(1));
    EXPECT_EQ(a.tickets.size(), 4U) << "alone it has everything";
    b.waiting = 100;
    RunFor(seconds(1));
    EXPECT_TRUE(b.tickets.empty()) << "what runs is not stopped";
    a.EndAll();
    RunFor(seconds(1));
    EXPECT_EQ(a.tickets.size(), 2U);
    EXPECT_EQ(b.tickets.size(), 2U);
    EXPECT_EQ(most_, 4U);
}

TEST_F(LimitSharesTest, NodesTakeTurnsWithASinglePlace) {
    for (int n = 0; n < 3; ++n) Add({.max_concurrency = 1}).waiting = 10'000;
    std::vector<int> done(3);
    for (int n = 0; n < 300; ++n) {
        RunFor(milliseconds(100));
        for (std::size_t one = 0; one < 3; ++one) {
            done[one] += static_cast<int>(nodes_[one]->tickets.size());
            nodes_[one]->EndAll();
        }
    }
    EXPECT_EQ(most_, 1U);
    for (const int count : done) EXPECT_GT(count, 50);
}

TEST_F(LimitSharesTest, ADeadNodesShareReturnsWithinSecondsAndALeavingOnesAtOnce) {
    Add({.max_concurrency = 2}).waiting = 10;
    RunFor(milliseconds(200));
    nodes_.clear();  // killed
    SmallNode& b = Add({.max_concurrency = 2});
    b.waiting = 10;
    RunFor(seconds(4));
    EXPECT_TRUE(b.tickets.empty());
    RunFor(seconds(3));
    EXPECT_EQ(b.tickets.size(), 2U);
    b.EndAll();
    b.waiting = 0;
    b.Leave();
    SmallNode& c = Add({.max_concurrency = 2});
    c.waiting = 10;
    c.Step();
    EXPECT_EQ(c.Step(), 2);
}

TEST_F(LimitSharesTest, WithoutTheStoreNothingMoreStarts) {
    SmallNode& node = Add({.max_concurrency = 2});
    node.waiting = 1;
    RunFor(milliseconds(100));
    ASSERT_EQ(node.tickets.size(), 1U);
    clock_.Advance(kShareLease);
    node.waiting = 1;
    EXPECT_EQ(node.Step(false), 0);
    EXPECT_EQ(node.tickets.size(), 1U) << "what runs goes on";
    EXPECT_EQ(node.Use().share->places, 0);
    node.Step();
    EXPECT_EQ(node.Step(), 1) << "the store is back";
}

TEST_F(LimitSharesTest, ALimitThatNobodyUsesCostsNothing) {
    SmallNode& node = Add({.max_concurrency = 2});
    RunFor(minutes(1));
    EXPECT_EQ(Commits(), 0U);
    node.waiting = 1;
    RunFor(milliseconds(100));
    node.EndAll();
    RunFor(seconds(10));
    const std::size_t commits = Commits();
    EXPECT_LE(commits, 4U) << "taken, renewed once or twice, given back";
    RunFor(minutes(1));
    EXPECT_EQ(Commits(), commits);
}

TEST_F(LimitSharesTest, RenewalsWakeNobody) {
    int told = 0;
    const auto subscription =
        store_->changes().Subscribe(store::Topics::All(), [&](store::Topics) { ++told; });
    Add({.max_concurrency = 4}).waiting = 2;
    Add({.max_concurrency = 4}).waiting = 2;
    RunFor(seconds(2));
    ASSERT_EQ(InUse(), 4U);
    const int before = told;
    RunFor(minutes(1));
    EXPECT_EQ(told, before);
    EXPECT_GT(Commits(), 30U) << "they were renewed";
}

TEST_F(LimitSharesTest, AgentsGetTheirShareToo) {
    LimitTracker tracker({.node_rate = {}, .breaker = {}, .name = "a", .shared = true});
    LimitShares shares(*store_, tracker, clock_,
                       {.owner = "a/1",
                        .waiting = [] { return std::map<std::string, std::size_t>(); },
                        .grown = [] {}});
    tracker.Configure({{"type:mail", {.max_concurrency = 2}}});
    AgentLimits agents(tracker, *store_, clock_);
    int rings = 0;
    agents.OnRoom([&] { ++rings; });
    const auto narrow = [&] {
        store::ClaimParams claim;
        claim.filter.types = {"mail"};
        claim.limit = 10;
        return AgentLimits::Turn(agents).Narrow(claim) ? claim.limit : 0;
    };
    EXPECT_EQ(narrow(), 0U);
    ASSERT_TRUE(shares.RunOnce());
    EXPECT_EQ(rings, 1) << "polls that wait are tried again";
    EXPECT_EQ(narrow(), 2U);
}

// The store has not answered a claim yet: its tasks may be under way.
TEST_F(LimitSharesTest, WhatAClaimUnderWayMayBringIsNotGivenUp) {
    LimitTracker tracker({.node_rate = {}, .breaker = {}, .name = "a", .shared = true});
    LimitShares shares(*store_, tracker, clock_,
                       {.owner = "a/1",
                        .waiting = [] { return std::map<std::string, std::size_t>(); },
                        .grown = [] {}});
    const model::Limit two{.max_concurrency = 2, .rate = model::Rate{.count = 2, .burst = 2}};
    tracker.Configure({{"type:mail", two}});
    AgentLimits agents(tracker, *store_, clock_);
    store::ClaimParams claim;
    claim.filter.types = {"mail"};
    claim.limit = 10;
    EXPECT_FALSE(AgentLimits::Turn(agents).Narrow(claim)) << "it asks for a share first";
    claim.filter.types = {"mail"};
    ASSERT_TRUE(shares.RunOnce());

    LimitTracker other({.node_rate = {}, .breaker = {}, .name = "b", .shared = true});
    LimitShares its_shares(*store_, other, clock_,
                           {.owner = "b/1",
                            .waiting = [] { return std::map<std::string, std::size_t>(); },
                            .grown = [] {}});
    other.Configure({{"type:mail", two}});
    const auto pass = [&] {
        for (int n = 0; n < 4; ++n) {
            clock_.Advance(milliseconds(150));
            other.WantType("mail", 10, clock_.SteadyNow());
            shares.Hint();
            ASSERT_TRUE(shares.RunOnce());
            its_shares.Hint();
            ASSERT_TRUE(its_shares.RunOnce());
        }
    };
    {
        AgentLimits::Turn turn(agents);
        ASSERT_TRUE(turn.Narrow(claim));
        ASSERT_EQ(claim.limit, 2U);
        pass();
        EXPECT_EQ(other.TypeRooms(clock_.SteadyNow()).at(0).room, 0U);
    }
    // What it might have brought of the rate cools for a period.
    for (int n = 0; n < 5; ++n) pass();
    EXPECT_GE(other.TypeRooms(clock_.SteadyNow()).at(0).room, 1U) << "it has brought nothing";
}

// A random life of a few nodes, which start, die, leave and lose the store. At any time all
// attempts of nodes in contact are within the limit, and all starts within the rate.
class RandomLife : public LimitSharesTest {
  protected:
    model::Limit Draw() {
        model::Limit limit;
        const std::uint64_t kind = random_.Below(3);
        if (kind != 0) limit.max_concurrency = 1 + static_cast<int>(random_.Below(6));
        if (kind != 1) {
            limit.rate = model::Rate{.count = 1 + static_cast<int>(random_.Below(12)),
                                     .per = milliseconds(500 + random_.Below(8000)),
                                     .burst = 1 + static_cast<int>(random_.Below(5))};
        }
        return limit;
    }

    void Disturb(const model::Limit& limit) {
        if (nodes_.size() < 4 && random_.Below(150) == 0) Add(limit);
        if (nodes_.empty()) return;
        const std::size_t which = random_.Below(nodes_.size());
        SmallNode& node = *nodes_[which];
        if (random_.Below(20) == 0) node.waiting = random_.Below(4) == 0 ? 0 : random_.Below(40);
        if (!node.tickets.empty() && random_.Below(6) == 0) {
            node.EndOne(random_.Below(node.tickets.size()));
        }
        if (random_.Below(600) > 0) return;
        node.EndAll();
        if (random_.Below(2) == 0) node.Leave();
        nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(which));
    }

    void Live(const model::Limit& limit) {
        for (int tick = 0; tick < 3'000; ++tick) {
            Disturb(limit);
            for (const auto& node : nodes_) {
                const int count = node->Step(random_.Below(10) > 0);
                starts_.insert(starts_.end(), static_cast<std::size_t>(count), clock_.Now());
            }
            if (limit.max_concurrency) {
                ASSERT_LE(InUse(), static_cast<std::size_t>(*limit.max_concurrency));
            }
            clock_.Advance(milliseconds(1 + random_.Below(30)));
        }
        if (limit.rate) CheckWindows(*limit.rate);
    }

    void CheckWindows(const model::Rate& rate) {
        const auto most = static_cast<std::size_t>(rate.count + rate.burst - 1);
        for (std::size_t n = most; n < starts_.size(); ++n) {
            ASSERT_GE(starts_[n] - starts_[n - most], rate.per - milliseconds(1))
                << rate.count << " in " << rate.per.count() << " us, burst " << rate.burst
                << ", start " << n;
        }
    }

    std::vector<TimePoint> starts_;
};

TEST_F(RandomLife, NoLimitIsEverExceeded) {
    std::size_t all = 0;
    for (int world = 0; world < 60; ++world) {
        random_ = SeededRandom(static_cast<std::uint64_t>(world));
        store_ = store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
        starts_.clear();
        Live(Draw());
        all += starts_.size();
        nodes_.clear();
        ASSERT_FALSE(HasFatalFailure()) << "world " << world;
    }
    EXPECT_GT(all, 1'500U) << "something has happened";
}

// All nodes always have work: the rate is used, also while its parts move.
TEST_F(RandomLife, ARateIsUsedWhenEverybodyWantsIt) {
    const model::Rate rate{.count = 10, .per = seconds(1)};
    for (int n = 0; n < 3; ++n) Add({.rate = rate}).waiting = 1'000;
    for (int tick = 0; tick < 6'000; ++tick) {
        for (const auto& node : nodes_) {
            const int count = node->Step();
            starts_.insert(starts_.end(), static_cast<std::size_t>(count), clock_.Now());
        }
        clock_.Advance(milliseconds(10));
    }
    CheckWindows(rate);
    EXPECT_GT(starts_.size(), 540U) << "of 600";
}

}  // namespace
}  // namespace ksana::engine

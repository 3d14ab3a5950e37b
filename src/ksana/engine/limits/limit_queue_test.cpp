#include "ksana/engine/limits/limit_queue.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LimitQueueTest : public ::testing::Test {
  protected:
    void Limit(const std::string& key, int most) {
        configured_[key] = {.description = {}, .max_concurrency = most, .rate = {}};
        limits_.Configure(configured_);
    }

    struct Wish {
        std::string name;
        std::string group = "g";
        std::string type = {};
        int priority = 5;
        int minute = 0;  // of the nominal time
    };

    // The names of the attempts that are admitted at once.
    std::vector<std::string> Enter(const Wish& wish) {
        auto job = std::make_shared<model::Job>();
        job->group = wish.group;
        model::Run run;
        run.id = ids_.Next();
        run.type = wish.type;
        run.priority = wish.priority;
        run.nominal_at = TimePoint(std::chrono::minutes(wish.minute));
        run.status.exec_id = wish.name;
        LimitQueue::AdmissionResult admission;
        admission.room = 100;
        AttemptPointer attempt = MakeAttempt(run, job);
        attempt->due = now_;
        limit_queue_.Enter(attempt, now_, admission);
        attempts_[wish.name] = std::move(attempt);
        return Note(std::move(admission));
    }

    std::vector<std::string> Advance(std::size_t room = 100) {
        LimitQueue::AdmissionResult admission;
        admission.room = room;
        limit_queue_.Advance(now_, admission);
        return Note(std::move(admission));
    }

    std::vector<std::string> Note(LimitQueue::AdmissionResult admission) {
        std::vector<std::string> names;
        for (auto& one : admission.admitted) {
            names.push_back(one.attempt->run.status.exec_id);
            tickets_[names.back()] = one.ticket;
        }
        for (const auto& away : admission.given_back) away_.push_back(away);
        return names;
    }

    void End(const std::string& name) { limits_.GiveBack(tickets_.extract(name).mapped(), now_); }

    using Names = std::vector<std::string>;
    SteadyPoint now_{seconds(1000)};
    LimitTracker limits_{{.node_rate = {}, .breaker = {.failures = 1}, .name = {}}};
    LimitQueue limit_queue_{limits_};
    std::map<std::string, model::Limit> configured_;
    std::map<std::string, LimitTracker::Ticket> tickets_;
    std::map<std::string, AttemptPointer> attempts_;  // by name
    std::vector<LimitQueue::GivenBack> away_;
    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
};

TEST_F(LimitQueueTest, WhoFindsNoRoomWaitsAndGoesOnWhenSomebodyEnds) {
    Limit("group:g", 1);
    EXPECT_EQ(Enter({.name = "a"}), Names{"a"});
    EXPECT_EQ(Enter({.name = "b"}), Names{});
    EXPECT_EQ(limit_queue_.CauseOf(*attempts_.at("b"))->key, "group:g");
    EXPECT_EQ(Advance(), Names{});
    End("a");
    EXPECT_EQ(Advance(), Names{"b"});
    EXPECT_TRUE(limit_queue_.empty());
}

TEST_F(LimitQueueTest, ALineStandsInNobodyElsesWay) {
    Limit("group:g", 1);
    Enter({.name = "a"});
    Enter({.name = "b"});
    EXPECT_EQ(Enter({.name = "c", .group = "other"}), Names{"c"});
}

TEST_F(LimitQueueTest, TheOrderIsPriorityThenTime) {
    Limit("group:g", 1);
    Enter({.name = "first"});
    Enter({.name = "late", .minute = 9});
    Enter({.name = "early", .minute = 1});
    Enter({.name = "important", .priority = 7, .minute = 9});
    EXPECT_EQ(limit_queue_.CauseOf(*attempts_.at("late"))->before, 2);
    Names order;
    for (std::string last = "first"; !limit_queue_.empty();) {
        End(last);
        const Names next = Advance();
        ASSERT_EQ(next.size(), 1U);
        order.push_back(last = next[0]);
    }
    EXPECT_EQ(order, (Names{"important", "early", "late"}));
}

TEST_F(LimitQueueTest, WhoWaitsForAnotherLimitTooIsNotInTheWay) {
    Limit("group:g", 1);
    Limit("type:slow", 1);
    Enter({.name = "slow", .group = "x", .type = "slow"});
    Enter({.name = "a"});
    Enter({.name = "b", .type = "slow", .minute = 1});
    Enter({.name = "c", .minute = 2});
    End("a");
    EXPECT_EQ(Advance(), Names{"c"}) << "b comes before, and waits for its type";
    EXPECT_EQ(limit_queue_.CauseOf(*attempts_.at("b"))->key, "type:slow");
    End("slow");
    EXPECT_EQ(Advance(), Names{}) << "now the group is taken again";
    EXPECT_EQ(limit_queue_.CauseOf(*attempts_.at("b"))->key, "group:g");
    End("c");
    EXPECT_EQ(Advance(), Names{"b"});
}

TEST_F(LimitQueueTest, TheLastIsSentAwayWhenALineIsTooLong) {
    Limit("group:g", 1);
    Enter({.name = "first"});
    const std::size_t most = limits_.MayWait("group:g");
    for (std::size_t n = 0; n < most; ++n) Enter({.name = fmt::format("w{}", n), .minute = 5});
    EXPECT_TRUE(away_.empty());
    Enter({.name = "important", .priority = 9, .minute = 6});
    ASSERT_EQ(away_.size(), 1U);
    EXPECT_EQ(away_[0].attempt->run.status.exec_id, fmt::format("w{}", most - 1));
    EXPECT_EQ(away_[0].cause.reason, model::WaitReason::kLimited);
    EXPECT_GE(away_[0].after, seconds(1));
    EXPECT_EQ(limit_queue_.size(), most);
    Enter({.name = "again", .minute = 4});
    EXPECT_EQ(limit_queue_.CauseOf(*attempts_.at("again"))->before, 1)
        << "who was there before others stays before them";
}

TEST_F(LimitQueueTest, ARateAdmitsThemOneByOne) {
    configured_["group:g"].rate = model::Rate{.count = 5};
    limits_.Configure(configured_);
    Enter({.name = "a"});
    Enter({.name = "b", .minute = 1});
    Enter({.name = "c", .minute = 2});
    EXPECT_EQ(limit_queue_.NextAt(), now_ + milliseconds(200));
    now_ += milliseconds(200);
    EXPECT_EQ(Advance(), Names{"b"});
    EXPECT_EQ(limit_queue_.NextAt(), now_ + milliseconds(200));
}

TEST_F(LimitQueueTest, SlotsAreABoundToo) {
    Limit("group:g", 2);
    Enter({.name = "a"});
    Enter({.name = "b"});
    Enter({.name = "c"});
    Enter({.name = "d"});
    End("a");
    End("b");
    EXPECT_EQ(Advance(1).size(), 1U);
    EXPECT_EQ(limit_queue_.size(), 1U);
}

TEST_F(LimitQueueTest, WhoIsRemovedIsGone) {
    Limit("group:g", 1);
    Enter({.name = "a"});
    Enter({.name = "b"});
    limit_queue_.Remove(*attempts_.at("b"));
    limit_queue_.Remove(*MakeAttempt({}));
    End("a");
    EXPECT_EQ(Advance(), Names{});
    EXPECT_TRUE(limit_queue_.empty());
}

TEST_F(LimitQueueTest, EverybodyAsksAnewWhenLimitsChange) {
    Limit("group:g", 1);
    Enter({.name = "a"});
    Enter({.name = "b"});
    EXPECT_EQ(limit_queue_.Lengths(), (std::map<std::string, std::size_t>{{"group:g", 1}}));
    EXPECT_EQ(limit_queue_.TakeAll().size(), 1U);
    EXPECT_TRUE(limit_queue_.empty());
}

}  // namespace
}  // namespace ksana::engine

#include "ksana/engine/limits/agent_limits.hpp"

#include <gtest/gtest.h>

#include "engine/service_fixture.hpp"
#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/services/task_service.hpp"

namespace ksana::engine {
namespace {

using model::AgentClaim;
using model::EventKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Limits of types for tasks that agents claim.
class AgentLimitsTest : public ServiceFixture {
  protected:
    AgentLimitsTest() {
        limits_.OnRoom([this] { ++rings_; });
    }

    void LimitMail(std::optional<std::int32_t> at_once, std::optional<model::Rate> rate = {}) {
        book_of_limits_.Configure({{LimitKey(model::LimitKind::kType, "mail"),
                                    {.max_concurrency = at_once, .rate = rate}}});
    }
    void Submit(const std::string& type, int count) {
        for (int i = 0; i < count; ++i) {
            NewTask task;
            task.type = type;
            ASSERT_TRUE(tasks_.SubmitOne(task));
        }
    }
    static AgentClaim Wish(std::vector<std::string> types, std::int32_t max = 10) {
        AgentClaim claim;
        claim.worker = "w";
        claim.types = std::move(types);
        claim.max = max;
        claim.lease = seconds(5);
        return claim;
    }
    std::vector<model::Run> Fetch(const AgentClaim& claim) {
        return agents_.Exchange({}, claim)->claimed.runs;
    }
    std::size_t Count(const std::vector<model::Run>& runs, const std::string& type) {
        return static_cast<std::size_t>(std::ranges::count(runs, type, &model::Run::type));
    }
    void Tell(const model::Run& run, EventKind kind) {
        ASSERT_TRUE(agents_.Report(
            {.run_id = run.id,
             .event = {.kind = kind, .exec_id = run.status.exec_id, .lease = seconds(5)}}));
    }

    LimitTracker book_of_limits_{{}};
    AgentLimits limits_{book_of_limits_, *store_, clock_};
    int rings_ = 0;
    AgentService agents_{*store_, {.limits = &limits_}};
    TaskService tasks_{*store_, {}, {.timeout = std::chrono::hours(1)}};
};

TEST_F(AgentLimitsTest, NoMoreAreTakenThanMayBeUnderWay) {
    LimitMail(2);
    Submit("mail", 5);
    const auto first = Fetch(Wish({"mail"}));
    ASSERT_EQ(first.size(), 2U);
    EXPECT_TRUE(Fetch(Wish({"mail"})).empty());
    Tell(first[0], EventKind::kProgress);
    EXPECT_TRUE(Fetch(Wish({"mail"})).empty()) << "it is still at work";
    EXPECT_EQ(rings_, 0);
    Tell(first[0], EventKind::kSuccess);
    EXPECT_EQ(rings_, 1) << "whoever waits is told";
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
    EXPECT_EQ(book_of_limits_.Uses(clock_.SteadyNow()).at(0).in_use, 2U) << "as /limits shows it";
}

TEST_F(AgentLimitsTest, OtherTypesAreNotInTheWay) {
    LimitMail(1);
    Submit("mail", 2);
    Submit("pdf", 3);
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
    const auto any = Fetch(Wish({}));
    EXPECT_EQ(Count(any, "pdf"), 3U);
    EXPECT_EQ(Count(any, "mail"), 0U);
    Submit("pdf", 1);
    const auto named = Fetch(Wish({"mail", "pdf"}));
    EXPECT_EQ(Count(named, "pdf"), 1U);
    EXPECT_EQ(named.size(), 1U);
}

TEST_F(AgentLimitsTest, ClaimsOfOneTransactionShareTheRoom) {
    LimitMail(3);
    Submit("mail", 9);
    const auto claimed =
        *agents_.ClaimAll({Wish({"mail"}, 2), Wish({"mail"}, 2), Wish({"mail"}, 2)});
    ASSERT_EQ(claimed.size(), 3U);
    EXPECT_EQ(claimed[0].runs.size(), 2U);
    EXPECT_EQ(claimed[1].runs.size(), 1U);
    EXPECT_TRUE(claimed[2].runs.empty());
}

TEST_F(AgentLimitsTest, ARateLetsOneThroughAtATime) {
    LimitMail({}, model::Rate{.count = 1, .per = seconds(1), .burst = 1});
    Submit("mail", 5);
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
    EXPECT_TRUE(Fetch(Wish({"mail"})).empty());
    EXPECT_LE(limits_.RoomAgainAt(), clock_.SteadyNow() + seconds(1));
    clock_.Advance(milliseconds(900));
    EXPECT_TRUE(Fetch(Wish({"mail"})).empty());
    clock_.Advance(milliseconds(100));
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
}

TEST_F(AgentLimitsTest, AnEmptyQueueTakesNoToken) {
    LimitMail({}, model::Rate{.count = 1, .per = seconds(60), .burst = 1});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(Fetch(Wish({"mail"})).empty());
    Submit("mail", 1);
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
}

TEST_F(AgentLimitsTest, WhoIsSilentLosesItsRoomWithItsLease) {
    LimitMail(1);
    Submit("mail", 2);
    const auto first = Fetch(Wish({"mail"}));
    ASSERT_EQ(first.size(), 1U);
    clock_.Advance(seconds(4));
    Tell(first[0], EventKind::kProgress);
    clock_.Advance(seconds(4));
    EXPECT_TRUE(Fetch(Wish({"mail"})).empty()) << "kept by its heartbeat";
    EXPECT_LE(limits_.RoomAgainAt(), clock_.SteadyNow() + seconds(2));
    clock_.Advance(seconds(2));
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
}

TEST_F(AgentLimitsTest, WhatIsSaidToAnotherNodeCountsHere) {
    LimitMail(1);
    Submit("mail", 2);
    const auto first = Fetch(Wish({"mail"}));
    ASSERT_EQ(first.size(), 1U);
    AgentService other(*store_, {});
    const auto tell = [&](EventKind kind) {
        ASSERT_TRUE(other.Report(
            {.run_id = first[0].id,
             .event = {.kind = kind, .exec_id = first[0].status.exec_id, .lease = seconds(5)}}));
    };
    for (int n = 0; n < 3; ++n) {
        clock_.Advance(seconds(4));
        tell(EventKind::kProgress);
        EXPECT_TRUE(Fetch(Wish({"mail"})).empty()) << "it is still at work";
    }
    tell(EventKind::kSuccess);
    EXPECT_TRUE(limits_.Hear());
    EXPECT_FALSE(limits_.Hear()) << "one look is enough";
    EXPECT_LE(limits_.LookAt(), clock_.SteadyNow() + seconds(1));
    clock_.Advance(seconds(1));
    limits_.Refresh();
    EXPECT_EQ(rings_, 1) << "whoever waits is told";
    EXPECT_EQ(limits_.LookAt(), SteadyPoint::max()) << "nothing counts any more";
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
}

TEST_F(AgentLimitsTest, WhatIsGivenBackHasRoomAgain) {
    LimitMail(1);
    Submit("mail", 1);
    const auto first = Fetch(Wish({"mail"}));
    ASSERT_EQ(first.size(), 1U);
    agents_.GiveBack(first);
    EXPECT_EQ(Fetch(Wish({"mail"})).size(), 1U);
}

}  // namespace
}  // namespace ksana::engine

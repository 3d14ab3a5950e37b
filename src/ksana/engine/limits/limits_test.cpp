#include "ksana/engine/limits/limits.hpp"

#include <gtest/gtest.h>

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = LimitTracker::Answer::Kind;
using model::TargetHealth;

model::Limit AtOnce(int most) { return {.description = {}, .max_concurrency = most, .rate = {}}; }
model::Limit PerSecond(int count) {
    return {.description = {}, .max_concurrency = {}, .rate = model::Rate{.count = count}};
}

class LimitTrackerTest : public ::testing::Test {
  protected:
    LimitTracker::Answer Take(const LimitSubject& subject) {
        return limits_.TryTake(subject, now_);
    }
    std::size_t InUse(const std::string& key) {
        for (const LimitUse& use : limits_.Uses(now_)) {
            if (LimitKey(use.kind, use.name) == key) return use.in_use;
        }
        return 999;
    }
    std::optional<Duration> Down(const std::string& host, bool probe = false) {
        return limits_.Tell({.subject = {.host = host},
                             .sign = TargetHealth::kDown,
                             .began = now_,
                             .probe = probe,
                             .retry_after = {}},
                            now_);
    }
    void Answered(const std::string& host) {
        limits_.Tell({.subject = {.host = host},
                      .sign = TargetHealth::kAnswered,
                      .began = now_,
                      .probe = false,
                      .retry_after = {}},
                     now_);
    }

    SteadyPoint now_{seconds(1000)};
    LimitTracker limits_{
        {.node_rate = {}, .breaker = {.failures = 2, .first_pause = seconds(10)}, .name = "node"}};
    const LimitSubject etl_{.group = "etl", .type = "mail", .host = "a.com:443"};
};

TEST_F(LimitTrackerTest, WithoutLimitsNothingIsAsked) {
    EXPECT_FALSE(limits_.active());
    EXPECT_EQ(Take(etl_).kind, Kind::kGranted);
    limits_.Configure({{"group:etl", AtOnce(1)}});
    EXPECT_TRUE(limits_.active());
    limits_.Configure({});
    EXPECT_FALSE(limits_.active());
}

TEST_F(LimitTrackerTest, ConcurrencyIsHeldUntilItIsGivenBack) {
    limits_.Configure({{"group:etl", AtOnce(2)}});
    auto one = Take(etl_);
    auto two = Take(etl_);
    EXPECT_EQ(two.kind, Kind::kGranted);
    const auto three = Take(etl_);
    EXPECT_EQ(three.kind, Kind::kWaits);
    EXPECT_EQ(three.key, "group:etl");
    EXPECT_EQ(three.again, SteadyPoint::max()) << "time alone does not help";
    EXPECT_EQ(Take({.group = "other", .type = {}, .host = {}}).kind, Kind::kGranted);
    limits_.GiveBack(one.ticket, now_);
    EXPECT_EQ(Take(etl_).kind, Kind::kGranted);
}

TEST_F(LimitTrackerTest, WhatOneRefusesTakesNothingFromTheOthers) {
    limits_.Configure(
        {{"group:etl", PerSecond(1)}, {"type:mail", AtOnce(1)}, {"host:a.com", AtOnce(5)}});
    const auto first = Take({.group = {}, .type = "mail", .host = "a.com:80"});
    ASSERT_EQ(first.kind, Kind::kGranted);
    EXPECT_EQ(Take(etl_).key, "type:mail");
    EXPECT_EQ(InUse("host:a.com"), 1U);
    EXPECT_EQ(InUse("group:etl"), 0U);
    limits_.GiveBack(first.ticket, now_);
    EXPECT_EQ(Take(etl_).kind, Kind::kGranted) << "the token of the group is still there";
}

TEST_F(LimitTrackerTest, ARateTellsWhenToAskAgain) {
    limits_.Configure({{"host:a.com:443", PerSecond(5)}});
    ASSERT_EQ(Take(etl_).kind, Kind::kGranted);
    const auto refused = Take(etl_);
    EXPECT_EQ(refused.kind, Kind::kWaits);
    EXPECT_EQ(refused.again, now_ + milliseconds(200));
    now_ = refused.again;
    EXPECT_EQ(Take(etl_).kind, Kind::kGranted);
}

TEST_F(LimitTrackerTest, ALimitOfAHostCountsForAllItsPorts) {
    limits_.Configure({{"host:[::1]", AtOnce(1)}});
    EXPECT_EQ(Take({.group = {}, .type = {}, .host = "[::1]:80"}).kind, Kind::kGranted);
    EXPECT_EQ(Take({.group = {}, .type = {}, .host = "[::1]:81"}).kind, Kind::kWaits);
}

TEST_F(LimitTrackerTest, ANewLimitCountsWhatIsUnderWay) {
    LimitTracker::Ticket running = Take(etl_).ticket;
    limits_.Configure({{"group:etl", AtOnce(1)}});
    limits_.Join(running, etl_, now_);
    limits_.Join(running, etl_, now_);
    EXPECT_EQ(InUse("group:etl"), 1U);
    EXPECT_EQ(Take(etl_).kind, Kind::kWaits);
    limits_.GiveBack(running, now_);
    EXPECT_EQ(Take(etl_).kind, Kind::kGranted);
}

TEST_F(LimitTrackerTest, AChangedLimitKeepsItsCount) {
    limits_.Configure({{"group:etl", AtOnce(3)}});
    const auto one = Take(etl_);
    EXPECT_TRUE(limits_.Configure({{"group:etl", AtOnce(1)}}));
    EXPECT_FALSE(limits_.Configure({{"group:etl", AtOnce(1)}}));
    EXPECT_EQ(Take(etl_).kind, Kind::kWaits);
    limits_.Configure({});
    limits_.GiveBack(one.ticket, now_);
    EXPECT_FALSE(limits_.active());
}

TEST_F(LimitTrackerTest, PlacesAreBookedOneBehindTheOther) {
    limits_.Configure({{"group:etl", PerSecond(2)}});
    EXPECT_EQ(limits_.MayWait("group:etl"), 20U) << "ten seconds' worth";
    const auto first = limits_.TakePlace("group:etl", 20, now_);
    EXPECT_EQ(first.after, seconds(10));
    EXPECT_EQ(first.before, 20U);
    EXPECT_EQ(limits_.TakePlace("group:etl", 20, now_).after, milliseconds(10'500));
    EXPECT_EQ(limits_.TakePlace("group:etl", 20, now_).before, 22U);
    for (int n = 0; n < 1000; ++n) limits_.TakePlace("group:etl", 20, now_);
    EXPECT_EQ(limits_.TakePlace("group:etl", 20, now_).after, std::chrono::minutes(5));
}

TEST_F(LimitTrackerTest, HowLongTheyHoldTheirPlaceIsLearned) {
    limits_.Configure({{"group:etl", AtOnce(1)}});
    for (int n = 0; n < 20; ++n) {
        const auto taken = Take(etl_);
        now_ += seconds(100);
        limits_.GiveBack(taken.ticket, now_);
    }
    EXPECT_EQ(limits_.MayWait("group:etl"), 2U) << "hours pass until more come to their turn";
    EXPECT_GT(limits_.TakePlace("group:etl", 2, now_).after, seconds(90));
}

TEST_F(LimitTrackerTest, AFailingDestinationOpensItsBreakerAlone) {
    EXPECT_FALSE(Down("a.com:443"));
    EXPECT_TRUE(limits_.active());
    EXPECT_EQ(Take(etl_).kind, Kind::kGranted);
    EXPECT_FALSE(Down("a.com:443"));
    const auto refused = Take(etl_);
    EXPECT_EQ(refused.kind, Kind::kLater);
    EXPECT_TRUE(refused.breaker);
    EXPECT_EQ(refused.key, "host:a.com:443");
    EXPECT_GE(refused.after, seconds(10));
    EXPECT_GT(Take(etl_).after, refused.after) << "they do not come back all at once";
    EXPECT_EQ(Take({.group = {}, .type = {}, .host = "a.com:80"}).kind, Kind::kGranted);
}

TEST_F(LimitTrackerTest, OneProbeAndThenAll) {
    Down("a.com:443");
    Down("a.com:443");
    now_ += seconds(13);
    const auto probe = Take(etl_);
    ASSERT_EQ(probe.kind, Kind::kGranted);
    EXPECT_TRUE(probe.ticket.probe);
    EXPECT_EQ(Take(etl_).kind, Kind::kWaits) << "soon it is known";
    const auto pause = Down("a.com:443", true);
    ASSERT_TRUE(pause);
    EXPECT_GE(*pause, seconds(20));
    EXPECT_EQ(Take(etl_).kind, Kind::kLater);
    now_ += *pause;
    ASSERT_TRUE(Take(etl_).ticket.probe);
    Answered("a.com:443");
    EXPECT_EQ(Take(etl_).kind, Kind::kGranted);
    EXPECT_FALSE(Take(etl_).ticket.probe);
    EXPECT_FALSE(limits_.active()) << "nothing is left to be known";
}

TEST_F(LimitTrackerTest, APathThatIsBusySilencesNoOther) {
    const LimitSubject busy{.host = "a.com:443", .path = "a.com:443/busy"};
    const LimitSubject other{.host = "a.com:443", .path = "a.com:443/other"};
    const auto refuse = [&](bool probe) {
        return limits_.Tell({.subject = busy,
                             .sign = TargetHealth::kUnavailable,
                             .began = now_,
                             .path_probe = probe,
                             .retry_after = std::chrono::hours(24)},
                            now_);
    };
    refuse(false);
    refuse(false);
    const auto away = Take(busy);
    EXPECT_EQ(away.kind, Kind::kLater);
    EXPECT_TRUE(away.breaker);
    EXPECT_EQ(away.key, "host:a.com:443/busy");
    EXPECT_LE(away.after, seconds(73)) << "it comes back to see whether the breaker was reset";
    EXPECT_EQ(Take(other).kind, Kind::kGranted);
    now_ += kLongestWish - seconds(1);
    EXPECT_EQ(Take(busy).kind, Kind::kLater);
    now_ += seconds(1);
    const auto probe = Take(busy);
    EXPECT_EQ(probe.kind, Kind::kGranted) << "a day is no answer";
    EXPECT_TRUE(probe.ticket.path_probe);
    EXPECT_FALSE(probe.ticket.probe);
    EXPECT_TRUE(refuse(true));
    EXPECT_EQ(Take(busy).kind, Kind::kLater);
}

TEST_F(LimitTrackerTest, AHostThatIsDownIsDownForAllItsPaths) {
    const LimitSubject one{.host = "a.com:443", .path = "a.com:443/one"};
    for (int n = 0; n < 2; ++n) {
        limits_.Tell(
            {.subject = one, .sign = TargetHealth::kDown, .began = now_, .retry_after = {}}, now_);
    }
    EXPECT_EQ(Take(one).key, "host:a.com:443");
    EXPECT_EQ(Take({.host = "a.com:443", .path = "a.com:443/two"}).kind, Kind::kLater);
}

TEST_F(LimitTrackerTest, ABreakerIsReset) {
    for (const char* host : {"a.com:443", "a.com:80", "b.com:443"}) {
        Down(host);
        Down(host);
    }
    for (int n = 0; n < 2; ++n) {
        limits_.Tell({.subject = {.host = "a.com:80", .path = "a.com:80/x"},
                      .sign = TargetHealth::kUnavailable,
                      .began = now_,
                      .retry_after = {}},
                     now_);
    }
    const auto may = [this](const std::string& host, const std::string& path) {
        return Take({.host = host, .path = host + path}).kind == Kind::kGranted;
    };
    EXPECT_FALSE(limits_.ResetBreakers("com"));
    EXPECT_TRUE(limits_.ResetBreakers("a.com:443"));
    EXPECT_TRUE(may("a.com:443", "/"));
    EXPECT_FALSE(may("a.com:80", "/x"));
    EXPECT_TRUE(limits_.ResetBreakers("a.com")) << "all ports";
    EXPECT_TRUE(may("a.com:80", "/x"));
    EXPECT_FALSE(may("b.com:443", "/"));
    EXPECT_TRUE(limits_.ResetBreakers("b.com:443"));
    EXPECT_FALSE(limits_.active()) << "nothing is left to be known";
}

TEST(LimitSubjects, APathIsThatOfTheJobWithoutItsQuery) {
    model::Job job;
    const auto path = [&job](const std::string& url) {
        job.action = model::HttpAction{.url = url};
        return SubjectOf({}, &job, nullptr).path;
    };
    EXPECT_EQ(path("http://A.com/x/{{id}}?q=1#f"), "a.com:80/x/{{id}}");
    EXPECT_EQ(path("https://a.com?q=/x"), "a.com:443/");
    EXPECT_EQ(path("https://a.com"), "a.com:443/");
    EXPECT_EQ(path("http://a.com/" + std::string(500, 'x')).size(), 8U + 256U);
}

TEST_F(LimitTrackerTest, TheNodesOwnRate) {
    LimitTracker limits({.node_rate = model::Rate{.count = 10}, .breaker = {}, .name = {}});
    EXPECT_TRUE(limits.active());
    EXPECT_LE(limits.NodeFreeAt(), now_);
    limits.TryTake(etl_, now_);
    EXPECT_EQ(limits.NodeFreeAt(), now_ + milliseconds(100));
}

TEST(LimitKeys, AreReadBack) {
    EXPECT_EQ(LimitKey(model::LimitKind::kHost, "[::1]:80"), "host:[::1]:80");
    EXPECT_EQ(NameOfLimitKey("host:[::1]:80"), "[::1]:80");
    EXPECT_EQ(KindOfLimitKey("type:a:b"), model::LimitKind::kType);
    EXPECT_EQ(KindOfLimitKey("node"), model::LimitKind::kNode);
}

}  // namespace
}  // namespace ksana::engine

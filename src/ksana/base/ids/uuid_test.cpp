#include "ksana/base/ids/uuid.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana {
namespace {

TEST(Uuid, ReadsBackItsText) {
    const auto id = Uuid::Parse("019A8c3e-7b2d-7f00-8abc-0123456789ef");
    EXPECT_FALSE(Uuid::ParseExact("019A8c3e-7b2d-7f00-8abc-0123456789ef"));
    EXPECT_EQ(Uuid::ParseExact("019a8c3e-7b2d-7f00-8abc-0123456789ef"), id);
    ASSERT_TRUE(id);
    EXPECT_EQ(id->ToString(), "019a8c3e-7b2d-7f00-8abc-0123456789ef");
    EXPECT_TRUE(Uuid().IsNil());
}

TEST(Uuid, RefusesOtherForms) {
    for (const char* text :
         {"", "019a8c3e7b2d7f008abc0123456789ef", "019a8c3e-7b2d-7f00-8abc-0123456789eg",
          "019a8c3e-7b2d-7f00-8abc-0123456789e", "{019a8c3e-7b2d-7f00-8abc-0123456789ef}",
          "019a8c3e-7b2d-7f00-8abc+0123456789ef"}) {
        EXPECT_FALSE(Uuid::Parse(text)) << text;
        EXPECT_FALSE(Uuid::ParseExact(text)) << text;
    }
}

TEST(UuidGenerator, MarksVersionAndVariantAndTime) {
    FakeClock clock;
    SeededRandom random(3);
    UuidGenerator ids(clock, random);
    const std::string text = ids.Next().ToString();
    EXPECT_EQ(text[14], '7');
    EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos);
    // 2026-01-01T00:00:00Z is 1767225600000 ms.
    EXPECT_EQ(text.substr(0, 13), "019b76da-a800");
}

TEST(Uuid, TellsWhenItWasMade) {
    FakeClock clock;
    SeededRandom random(1);
    const auto made = std::chrono::floor<std::chrono::milliseconds>(clock.Now());
    EXPECT_EQ(UuidGenerator(clock, random).Next().MadeAtMs(), made.time_since_epoch().count());
    const Uuid other = RandomUuid(random);
    EXPECT_EQ(other.bytes[6] >> 4U, 4);
    EXPECT_EQ(other.bytes[8] >> 6U, 2);
    EXPECT_FALSE(other.MadeAtMs());
}

TEST(UuidGenerator, GrowsWithinAMillisecondAndWhenTheClockIsSetBack) {
    FakeClock clock;
    SeededRandom random(3);
    UuidGenerator ids(clock, random);
    Uuid last = ids.Next();
    for (int i = 0; i < 20'000; ++i) {
        if (i == 10'000) clock.JumpWall(-std::chrono::hours(1));
        const Uuid next = ids.Next();
        ASSERT_LT(last, next);
        last = next;
    }
}

TEST(UuidGenerator, ThreadsGetDifferentIds) {
    SystemClock clock;
    SystemRandom random;
    UuidGenerator ids(clock, random);
    std::vector<std::vector<Uuid>> made(4);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : made) {
            threads.emplace_back([&ids, &mine] {
                for (int i = 0; i < 2'000; ++i) mine.push_back(ids.Next());
            });
        }
    }
    std::set<Uuid> all;
    for (const auto& mine : made) all.insert(mine.begin(), mine.end());
    EXPECT_EQ(all.size(), 8'000U);
}

}  // namespace
}  // namespace ksana

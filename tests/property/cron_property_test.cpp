#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"
#include "ksana/schedule/cron/zoned_cron.hpp"
#include "ksana/schedule/zone/civil.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "support/naive_cron.hpp"
#include "support/property_cases.hpp"

// K-22, N-08: next, previous and count of random expressions near clock changes, checked against a
// scanner that tests every minute.

namespace ksana::schedule {
namespace {

using ksana::testing::MakeRandomCron;
using ksana::testing::NaiveCron;
using ksana::testing::NaiveNext;
using ksana::testing::PropertyCases;

constexpr const char* kZones[] = {
    "America/New_York", "Europe/London",     "Europe/Dublin",      "Australia/Lord_Howe",
    "Antarctica/Troll", "America/Sao_Paulo", "America/Santiago",   "Asia/Hebron",
    "America/Nuuk",     "Pacific/Apia",      "Africa/Casablanca",  "Africa/Cairo",
    "Asia/Kolkata",     "Asia/Kathmandu",    "Pacific/Kiritimati", "Asia/Shanghai",
    "Asia/Pyongyang",   "America/Caracas",   "Europe/Istanbul",    "UTC"};

struct Case {
    NaiveCron naive;
    CronSpec spec;
    std::shared_ptr<const Zone> zone;
    DstPolicy policy;
    std::int64_t from;
    std::int64_t until;

    ZonedCron Compile() const { return ZonedCron(CronPattern(spec), zone, policy); }
};

// Makes random cases from a seed. One thread.
class CaseMaker {
  public:
    explicit CaseMaker(std::uint64_t seed) : random_(seed) {
        for (const char* name : kZones) loaded_.push_back(*zones_.Find(name));
    }

    Case Make() {
        Case c;
        c.naive = MakeRandomCron(random_);
        const DayMatch match = c.naive.day_match_and ? DayMatch::kAnd : DayMatch::kOr;
        auto parsed = ParseCron(c.naive.text, {CronDialect::kStandard, match});
        EXPECT_TRUE(parsed) << c.naive.text << ": " << parsed.error().message;
        c.spec = *parsed;
        c.zone = loaded_.at(random_.Below(loaded_.size()));
        c.policy.gap = random_.Below(2) == 0 ? GapPolicy::kRunAfter : GapPolicy::kSkip;
        c.policy.fold = static_cast<FoldPolicy>(random_.Below(3));
        c.from = PickInstant(*c.zone);
        c.until = c.from + (c.naive.has_seconds ? 4 * 3600 : 36 * 3600);
        return c;
    }

    Random& random() { return random_; }

  private:
    // Returns an instant that is mostly within a day and a half of a clock change between 1975 and
    // 2150.
    std::int64_t PickInstant(const Zone& zone) {
        const auto below = [this](std::int64_t n) {
            return static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(n)));
        };
        const std::int64_t anywhere = 157'766'400 + below(175 * 31'556'952LL);
        const ZoneSegment segment = zone.Segment(zone.IndexAt(anywhere));
        if (segment.end > 5'680'281'600 || below(10) == 0) return anywhere;
        if (below(8) == 0) return segment.end - 2 + below(4);
        return segment.end - 36 * 3600 + below(40 * 3600);
    }

    SeededRandom random_;
    ZoneDatabase zones_;
    std::vector<std::shared_ptr<const Zone>> loaded_;
};

std::string Show(const Case& c) {
    return "\"" + c.naive.text + "\" in " + c.zone->name() + " from " + std::to_string(c.from) +
           " gap " + std::to_string(static_cast<int>(c.policy.gap)) + " fold " +
           std::to_string(static_cast<int>(c.policy.fold)) +
           (c.naive.day_match_and ? " day_match and" : "");
}

TEST(CronProperty, NextIsTheFirstMinuteTheScannerFinds) {
    CaseMaker maker(20261115);
    const int cases = PropertyCases(200'000);
    int found = 0;
    for (int i = 0; i < cases; ++i) {
        const Case c = maker.Make();
        const auto expected = NaiveNext(c.naive, *c.zone, c.policy, c.from, c.until);
        const auto next = c.Compile().Next(c.from);
        if (expected) {
            ++found;
            ASSERT_EQ(next, expected) << Show(c);
        } else if (next) {
            ASSERT_GT(*next, c.until) << Show(c);
        }
    }
    EXPECT_GT(found, cases / 3) << "too few cases had a fire to find";
}

TEST(CronProperty, NextPreviousAndCountAgree) {
    CaseMaker maker(7);
    for (int i = 0; i < PropertyCases(60'000); ++i) {
        const Case c = maker.Make();
        const ZonedCron cron = c.Compile();
        const auto next = cron.Next(c.from);
        if (!next) continue;
        ASSERT_GT(*next, c.from) << Show(c);
        ASSERT_EQ(cron.Next(*next - 1), next) << Show(c);
        ASSERT_LE(*cron.Next(c.from - 1), *next) << Show(c);
        ASSERT_EQ(cron.Count(c.from + 1, *next), 0) << Show(c);
        ASSERT_EQ(cron.Count(c.from + 1, *next + 1), 1) << Show(c);
        const auto previous = cron.Previous(*next);
        if (previous) {
            ASSERT_LE(*previous, c.from) << Show(c);
            ASSERT_EQ(cron.Next(*previous), next) << Show(c);
        }
        ASSERT_EQ(cron.Previous(*next + 1), next) << Show(c);
    }
}

TEST(CronProperty, CountIsTheNumberOfFires) {
    CaseMaker maker(8);
    for (int i = 0; i < PropertyCases(20'000); ++i) {
        const Case c = maker.Make();
        const ZonedCron cron = c.Compile();
        std::int64_t fires = 0;
        const std::int64_t until =
            c.from + static_cast<std::int64_t>(maker.random().Below(200 * 86'400));
        auto at = cron.Next(c.from);
        for (; at && *at < until && fires < 2'000; at = cron.Next(*at)) ++fires;
        const std::int64_t end = fires == 2'000 ? *at : until;
        ASSERT_EQ(cron.Count(c.from + 1, end), fires) << Show(c) << " until " << end;
    }
}

TEST(CronProperty, PrintedTextFiresTheSame) {
    SeededRandom random(9);
    for (int i = 0; i < PropertyCases(100'000); ++i) {
        const NaiveCron naive = MakeRandomCron(random);
        const CronSpec spec = *ParseCron(naive.text);
        const auto back = ParseCron(FormatCron(spec));
        ASSERT_TRUE(back) << naive.text << " printed as " << FormatCron(spec);
        ASSERT_EQ(*back, spec) << naive.text << " printed as " << FormatCron(spec);
    }
}

// Checks the day masks over 2 000 years against the field-by-field match.
TEST(CronProperty, SparseDaysAreFoundAcrossCenturies) {
    SeededRandom random(10);
    for (int i = 0; i < PropertyCases(20'000); ++i) {
        const NaiveCron naive = MakeRandomCron(random);
        const CronSpec spec = *ParseCron(
            naive.text,
            {CronDialect::kStandard, naive.day_match_and ? DayMatch::kAnd : DayMatch::kOr});
        const CronPattern pattern(spec);
        const std::int64_t start = FirstOfMonth(1900 + static_cast<int>(random.Below(900)), 1);
        const auto next = pattern.Next(start * kSecondsPerDay, kMaxLocalSecond);
        if (!pattern.CanMatch()) {
            ASSERT_FALSE(next);
            continue;
        }
        ASSERT_TRUE(next) << naive.text;
        const std::int64_t last_day = FloorDiv(*next, kSecondsPerDay);
        const std::int64_t time = *next - last_day * kSecondsPerDay;
        ASSERT_TRUE(Matches(naive, *next)) << naive.text;
        for (std::int64_t day = start; day < last_day; ++day) {
            ASSERT_FALSE(Matches(naive, day * kSecondsPerDay + time))
                << naive.text << " day " << day;
        }
    }
}

TEST(CronProperty, EveryMinuteIsSixtySecondsApartInEveryZone) {
    ZoneDatabase zones;
    const CronSpec spec = *ParseCron("* * * * *");
    for (const std::string& name : zones.Names()) {
        const ZonedCron cron(CronPattern(spec), *zones.Find(name), {});
        const Zone& zone = cron.zone();
        for (std::int64_t i = zone.IndexAt(1'735'689'600); zone.Segment(i).end < 1'830'297'600;
             ++i) {
            std::int64_t at = zone.Segment(i).end - 7'200;
            for (int n = 0; n < 240; ++n, at += 60) ASSERT_EQ(cron.Next(at), at + 60) << name;
        }
    }
}

TEST(CronProperty, TheMachinesZoneAndLocaleDoNotMatter) {
    std::vector<std::optional<std::int64_t>> answers;
    for (const char* zone : {"UTC", "Asia/Tokyo", "America/St_Johns"}) {
        setenv("TZ", zone, 1);
        tzset();
        std::setlocale(LC_ALL, zone[0] == 'A' ? "C.UTF-8" : "C");
        CaseMaker maker(11);
        std::vector<std::optional<std::int64_t>> mine;
        for (int i = 0; i < 2'000; ++i) {
            const Case c = maker.Make();
            mine.push_back(c.Compile().Next(c.from));
        }
        if (answers.empty()) answers = mine;
        EXPECT_EQ(mine, answers) << zone;
    }
    unsetenv("TZ");
    tzset();
    std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace ksana::schedule

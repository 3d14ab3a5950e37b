#include "ksana/schedule/zone/zone.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/zone/civil.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::schedule {
namespace {

std::int64_t Second(const char* text) {
    return std::chrono::floor<std::chrono::seconds>(*ParseTime(text)).time_since_epoch().count();
}

std::string ReadFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Compares with glibc: the same offset at every clock change from 1970 to 2100, one second before
// it, and at noon and midnight of every 11th day.
TEST(Zone, AgreesWithGlibcForEveryZoneUntil2100) {
    ZoneDatabase zones;
    const auto names = zones.Names();
    ASSERT_GT(names.size(), 400U);
    const std::int64_t from = Second("1970-01-01T00:00:00Z");
    const std::int64_t until = Second("2100-12-31T00:00:00Z");
    for (const std::string& name : names) {
        const auto zone = zones.Find(name);
        ASSERT_TRUE(zone) << name << ": " << zone.error().message;
        setenv("TZ", (":" + name).c_str(), 1);
        tzset();
        const auto check = [&](std::int64_t utc) {
            const std::time_t t = utc;
            std::tm local{};
            localtime_r(&t, &local);
            if (local.tm_gmtoff == (*zone)->OffsetAt(utc)) return true;
            ADD_FAILURE() << name << " at " << utc << ": " << (*zone)->OffsetAt(utc)
                          << ", glibc says " << local.tm_gmtoff;
            return false;
        };
        bool ok = true;
        for (std::int64_t utc = from; utc < until && ok; utc += 11 * 43'200) ok = check(utc);
        for (std::int64_t i = (*zone)->IndexAt(from); ok; ++i) {
            const ZoneSegment segment = (*zone)->Segment(i);
            if (segment.end > until) break;
            ok = check(segment.end) && check(segment.end - 1);
        }
    }
    unsetenv("TZ");
    tzset();
}

TEST(Zone, KeepsTheRuleGoingForEver) {
    ZoneDatabase zones;
    const auto zone = *zones.Find("America/New_York");
    // 400 years apart the calendar, and so the rule, is the same.
    for (const int year : {2100, 2500, 2900, 6500, 9900}) {
        const std::int64_t july = FirstOfMonth(year, 7) * kSecondsPerDay;
        const std::int64_t january = FirstOfMonth(year, 1) * kSecondsPerDay;
        EXPECT_EQ(zone->OffsetAt(july), -4 * 3600) << year;
        EXPECT_EQ(zone->OffsetAt(january), -5 * 3600) << year;
        EXPECT_EQ(zone->AbbreviationAt(july), "EDT");
    }
    // Segments are contiguous, also where the stored ones end and the cycle begins.
    for (std::int64_t i = 0; i < 4'000; ++i) {
        ASSERT_EQ(zone->Segment(i).end, zone->Segment(i + 1).begin) << i;
        ASSERT_EQ(zone->IndexAt(zone->Segment(i).end - 1), i);
        ASSERT_EQ(zone->IndexAt(zone->Segment(i).end), i + 1);
    }
}

TEST(Zone, FindsTheFirstInstantOfALocalTime) {
    ZoneDatabase zones;
    const auto zone = *zones.Find("America/New_York");
    const auto local = [](const char* text) { return Second(text); };  // written as if it were UTC
    EXPECT_EQ(zone->FirstInstantAt(local("2026-07-01T12:00:00Z")), Second("2026-07-01T16:00:00Z"));
    EXPECT_EQ(zone->FirstInstantAt(local("2025-03-09T02:30:00Z")), Second("2025-03-09T07:00:00Z"));
    EXPECT_EQ(zone->FirstInstantAt(local("2025-11-02T01:30:00Z")), Second("2025-11-02T05:30:00Z"));
}

TEST(Zone, RefusesDamagedFiles) {
    const std::string good = ReadFile("/usr/share/zoneinfo/Europe/Paris");
    ASSERT_TRUE(Zone::FromTzif("x", good));
    // Every truncated file is refused.
    for (std::size_t size = 0; size + 1 < good.size(); ++size) {
        EXPECT_FALSE(Zone::FromTzif("x", good.substr(0, size))) << size;
    }
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(~bad[i]);
        const auto zone = Zone::FromTzif("x", bad);
        if (zone) (void)(*zone)->OffsetAt(Second("2050-01-01T00:00:00Z"));
    }
    EXPECT_FALSE(Zone::FromTzif("x", ""));
}

TEST(ZoneDatabase, RefusesNamesThatAreNoZones) {
    ZoneDatabase zones;
    for (const char* name : {"", "Europe", "../../../etc/passwd", "/etc/localtime", "localtime",
                             "zone.tab", "tzdata.zi", "right/UTC", "Europe//Paris", "Europe/",
                             "Mars/Olympus", "Europe/Paris\n", "UTC+8"}) {
        const auto zone = zones.Find(name);
        ASSERT_FALSE(zone) << name;
        EXPECT_EQ(zone.error().code, Code::kInvalidArgument);
    }
    EXPECT_NE(zones.Find("Europe/Pariss").error().message.find("Europe/Paris"), std::string::npos);
    EXPECT_NE(zones.Find("europe/paris").error().message.find("Europe/Paris"), std::string::npos);
    EXPECT_NE(ZoneDatabase("/nowhere").Find("Europe/Paris").error().message.find("tzdata"),
              std::string::npos);
}

TEST(ZoneDatabase, ReadsTheVersion) { EXPECT_EQ(ZoneDatabase().Version().substr(0, 2), "20"); }

TEST(ZoneDatabase, SeesReplacedFilesAfterRefresh) {
    const auto folder = std::filesystem::path(::testing::TempDir()) / "ksana_zones";
    std::filesystem::create_directories(folder / "Europe");
    const auto install = [&folder](const char* from) {
        // Replaces the file as a package manager does: a new file under another name, then a
        // rename.
        std::filesystem::copy_file(std::string(ZoneDatabase::kSystemFolder) + "/" + from,
                                   folder / "new",
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::rename(folder / "new", folder / "Europe" / "Paris");
    };
    install("Europe/Paris");
    ZoneDatabase zones(folder.string());
    const auto before = *zones.Find("Europe/Paris");
    EXPECT_TRUE(zones.Refresh().empty());

    install("Asia/Tokyo");
    EXPECT_EQ((*zones.Find("Europe/Paris"))->OffsetAt(0), 3600) << "unchanged until Refresh";
    EXPECT_EQ(zones.Refresh(), std::vector<std::string>{"Europe/Paris"});
    EXPECT_EQ((*zones.Find("Europe/Paris"))->OffsetAt(0), 9 * 3600);
    EXPECT_EQ(before->OffsetAt(0), 3600) << "what was handed out stays as it is";

    std::ofstream(folder / "new") << "rubbish";
    std::filesystem::rename(folder / "new", folder / "Europe" / "Paris");
    EXPECT_TRUE(zones.Refresh().empty()) << "a damaged file keeps the last good zone";
    EXPECT_EQ((*zones.Find("Europe/Paris"))->OffsetAt(0), 9 * 3600);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ksana::schedule

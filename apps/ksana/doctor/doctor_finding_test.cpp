#include "apps/ksana/doctor/doctor_finding.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using Level = Finding::Level;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kGigabyte = 1'000'000'000;

TEST(DoctorFinding, OfTheDisk) {
    EXPECT_EQ(JudgeDisk({"d", 50 * kGigabyte, 100 * kGigabyte, 10, 100}).level, Level::kOk);
    EXPECT_EQ(JudgeDisk({"d", kGigabyte / 2, 100 * kGigabyte, 10, 100}).level, Level::kWarn);
    const Finding full = JudgeDisk({"d", kGigabyte / 20, 100 * kGigabyte, 10, 100});
    EXPECT_EQ(full.level, Level::kFail);
    EXPECT_EQ(full.found, "d: 50 MB free of 100 GB");
    EXPECT_FALSE(full.advice.empty());
    EXPECT_EQ(JudgeDisk({"d", 50 * kGigabyte, 100 * kGigabyte, 0, 1000}).level, Level::kWarn);
    EXPECT_EQ(JudgeDisk({"d", 50 * kGigabyte, 100 * kGigabyte, 0, 0}).level, Level::kOk)
        << "a file system that does not count inodes";
}

TEST(DoctorFinding, OfDurableWrites) {
    const Finding fast = JudgeSync("d", {milliseconds(3), milliseconds(900), milliseconds(1)});
    EXPECT_EQ(fast.level, Level::kOk);
    EXPECT_EQ(fast.found, "d: 3ms until a write is durable") << "the median";
    EXPECT_EQ(JudgeSync("d", {milliseconds(50)}).level, Level::kWarn);
    EXPECT_EQ(JudgeSync("d", {seconds(2)}).level, Level::kFail);
    EXPECT_EQ(JudgeSync("d", {}).level, Level::kOk);
}

TEST(DoctorFinding, OfDescriptors) {
    EXPECT_EQ(JudgeDescriptors(1 << 20, 1000).level, Level::kOk);
    EXPECT_EQ(JudgeDescriptors(1024, 4).level, Level::kWarn);
    EXPECT_EQ(JudgeDescriptors(1024, 1000).level, Level::kFail);
}

TEST(DoctorFinding, OfTheClock) {
    ClockFacts facts;
    facts.now = *ParseTime("2026-11-16T12:00:00Z");
    facts.synchronised = true;
    EXPECT_EQ(JudgeClock(facts).found, "2026-11-16T12:00:00Z, synchronised");
    facts.synchronised = std::nullopt;
    EXPECT_EQ(JudgeClock(facts).level, Level::kOk) << "nobody knows: no reason to worry anybody";
    facts.synchronised = false;
    EXPECT_EQ(JudgeClock(facts).level, Level::kWarn);
    facts.synchronised = true;
    facts.error = seconds(5);
    EXPECT_EQ(JudgeClock(facts).level, Level::kWarn);
    facts.error = {};
    facts.wall_moved = seconds(10);
    facts.steady_moved = seconds(1);
    EXPECT_NE(JudgeClock(facts).found.find("set by 9s while we looked"), std::string::npos);
    facts.now = *ParseTime("1970-01-01T00:01:00Z");
    EXPECT_EQ(JudgeClock(facts).level, Level::kFail);
}

TEST(DoctorFinding, OfTimeZones) {
    const TimePoint now = *ParseTime("2026-11-16T12:00:00Z");
    EXPECT_EQ(JudgeZones("2026a", true, now).level, Level::kOk);
    EXPECT_EQ(JudgeZones("2025b", true, now).level, Level::kOk);
    EXPECT_EQ(JudgeZones("2023c", true, now).level, Level::kWarn);
    EXPECT_EQ(JudgeZones("", true, now).level, Level::kOk);
    EXPECT_EQ(JudgeZones("2026a", false, now).level, Level::kFail);
}

}  // namespace
}  // namespace ksana::app

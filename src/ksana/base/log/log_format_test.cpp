#include "ksana/base/log/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana {
namespace {

// K-19
TEST(FormatLogLine, TextHasKeysAndValues) {
    const std::array<LogField, 5> fields = {LogField("job_id", "j1"), LogField("name", "a b"),
                                            LogField("latency_ms", 12), LogField("ok", true),
                                            LogField("ratio", 0.5)};
    EXPECT_EQ(FormatLogLine(LogFormat::kText, FakeClock::DefaultStart(), LogLevel::kInfo,
                            "run finished", fields),
              "2026-01-01T00:00:00Z info  run finished job_id=j1 name=\"a b\" latency_ms=12 "
              "ok=true ratio=0.5");
}

TEST(FormatLogLine, JsonIsOneObject) {
    const std::array<LogField, 3> fields = {
        LogField("text", "say \"hi\"\\"),
        LogField("big", std::uint64_t{18'446'744'073'709'551'615U}),
        LogField("bad", std::numeric_limits<double>::infinity())};
    EXPECT_EQ(
        FormatLogLine(LogFormat::kJson, FakeClock::DefaultStart(), LogLevel::kError, "m", fields),
        R"({"time":"2026-01-01T00:00:00Z","level":"error","message":"m",)"
        R"("text":"say \"hi\"\\","big":18446744073709551615,"bad":null})");
}

TEST(FormatLogLine, AValueCannotForgeALine) {
    const std::array<LogField, 1> fields = {LogField("name", "x\n2026 error fake\x1b[2J")};
    for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
        const std::string line =
            FormatLogLine(format, FakeClock::DefaultStart(), LogLevel::kInfo, "m\nm", fields);
        EXPECT_EQ(line.find('\n'), std::string::npos);
        EXPECT_EQ(line.find('\x1b'), std::string::npos);
    }
}

TEST(Log, WritesFromTheConfiguredLevelUp) {
    std::vector<std::string> lines;
    SetLogSinkForTest([&lines](LogLevel, std::string_view line) { lines.emplace_back(line); });
    ASSERT_TRUE(ConfigureLog({.level = LogLevel::kWarn, .format = LogFormat::kText, .file = ""}));
    Log(LogLevel::kInfo, "quiet");
    Log(LogLevel::kWarn, "loud", {{"n", 1}});
    EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
    ASSERT_TRUE(ConfigureLog({}));
    SetLogSinkForTest(nullptr);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("warn  loud n=1"), std::string::npos);
}

TEST(LogBatch, WritesItsLinesAtTheEnd) {
    const std::filesystem::path file =
        std::filesystem::path(::testing::TempDir()) / ("ksana_log_" + std::to_string(::getpid()));
    const auto count = [&file] {
        std::ifstream in(file);
        return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
    };
    ASSERT_TRUE(ConfigureLog({.file = file.string()}));
    {
        const LogBatch outer;
        {
            const LogBatch inner;
            Log(LogLevel::kInfo, "one");
            Log(LogLevel::kDebug, "nobody wants to see it");
            Log(LogLevel::kError, "two");
        }
        EXPECT_EQ(count(), 0);
        {
            const std::jthread other([] { Log(LogLevel::kInfo, "of another thread"); });
        }
        EXPECT_EQ(count(), 1);
    }
    EXPECT_EQ(count(), 3);
    {
        const LogBatch many;
        for (int i = 0; i < 1000; ++i) Log(LogLevel::kInfo, std::string(100, 'x'));
        EXPECT_GT(count(), 3) << "it grows without bound";
    }
    EXPECT_EQ(count(), 1003);
    Log(LogLevel::kInfo, "alone");
    EXPECT_EQ(count(), 1004);
    ASSERT_TRUE(ConfigureLog({}));
    std::filesystem::remove(file);
}

TEST(ConfigureLog, SaysWhenTheFileCannotBeOpened) {
    const auto result = ConfigureLog({.file = "/proc/no/such/file"});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("/proc/no/such/file"), std::string::npos);
}

TEST(ParseLogLevel, KnowsItsNamesAndGuesses) {
    EXPECT_EQ(*ParseLogLevel("warning"), LogLevel::kWarn);
    EXPECT_EQ(*ParseLogLevel("debug"), LogLevel::kDebug);
    EXPECT_NE(ParseLogLevel("inof").error().message.find("info?"), std::string::npos);
}

}  // namespace
}  // namespace ksana

#include "apps/ksana/commands.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana::app {
namespace {

class CronCommandTest : public ::testing::Test {
  protected:
    int Run(std::vector<std::string> tokens) {
        output_ = {};
        return RunCommandLine(CronCommands(clock_), tokens, output_);
    }

    FakeClock clock_;
    Output output_;
};

TEST_F(CronCommandTest, NextPrintsOneInstantALine) {
    EXPECT_EQ(Run({"cron", "next", "--tz", "Europe/Paris", "--from", "2026-03-28T12:00:00Z",
                   "--count", "2", "--", "30 2 * * *"}),
              0);
    EXPECT_EQ(output_.out, "2026-03-29T01:00:00Z\n2026-03-30T00:30:00Z\n");
    EXPECT_EQ(output_.err, "");
    EXPECT_EQ(Run({"cron", "next", "0 0 * * *"}), 0);
    EXPECT_EQ(output_.out, "2026-01-02T00:00:00Z\n") << "from now on";
    EXPECT_EQ(Run({"cron", "next", "-o", "json", "-n", "2", "@daily"}), 0);
    EXPECT_EQ(output_.out, "[\n  \"2026-01-02T00:00:00Z\",\n  \"2026-01-03T00:00:00Z\"\n]\n");
}

TEST_F(CronCommandTest, PoliciesAreObeyed) {
    const std::vector<std::string> base = {
        "cron", "next", "--tz", "America/New_York", "--from", "2025-11-02T00:00:00Z", "-n", "2"};
    auto tokens = base;
    tokens.insert(tokens.end(), {"--fold", "both", "30 1 * * *"});
    EXPECT_EQ(Run(tokens), 0);
    EXPECT_EQ(output_.out, "2025-11-02T05:30:00Z\n2025-11-02T06:30:00Z\n");
    EXPECT_EQ(Run({"cron", "next", "--day-match", "and", "0 0 13 * FRI"}), 0);
    EXPECT_EQ(output_.out, "2026-02-13T00:00:00Z\n");
    EXPECT_EQ(Run({"cron", "next", "--dialect", "library", "--from", "2026-03-01T00:00:00Z",
                   "0 0 29 2 *"}),
              kExitNever);
    EXPECT_NE(output_.err.find("within 370 days"), std::string::npos);
}

TEST_F(CronCommandTest, AnInvalidExpressionIsPointedAt) {
    EXPECT_EQ(Run({"cron", "next", "--", "0 75 * * *"}), kExitUsage);
    EXPECT_EQ(output_.out, "");
    EXPECT_EQ(output_.err, "ksana: hour: 75 is out of range 0-23\n  0 75 * * *\n    ^^\n");
    EXPECT_EQ(Run({"cron", "next", "--", ""}), kExitUsage);
    EXPECT_EQ(Run({"cron", "next", "--", std::string(1 << 20, '1')}), kExitUsage);
    EXPECT_LT(output_.err.size(), 200U) << "the input is not echoed whole";
    EXPECT_EQ(Run({"cron", "explain", "--", "\x1b[2J * * * *"}), kExitUsage);
    EXPECT_EQ(output_.err.find('\x1b'), std::string::npos);
}

TEST_F(CronCommandTest, OtherBadInputNamesItsOption) {
    EXPECT_EQ(Run({"cron", "next", "--tz", "Europe/Pariss", "* * * * *"}), kExitUsage);
    EXPECT_NE(output_.err.find("--tz: unknown time zone \"Europe/Pariss\"; did you mean"),
              std::string::npos)
        << output_.err;
    EXPECT_EQ(Run({"cron", "next", "--from", "today", "* * * * *"}), kExitUsage);
    EXPECT_NE(output_.err.find("--from: "), std::string::npos);
    EXPECT_EQ(Run({"cron", "next", "--count", "0", "* * * * *"}), kExitUsage);
    EXPECT_EQ(Run({"cron", "next", "--count", "1x", "* * * * *"}), kExitUsage);
    EXPECT_EQ(Run({"cron", "next", "--dialect", "library", "--tz", "Asia/Tokyo", "* * * * *"}),
              kExitUsage);
    EXPECT_EQ(Run({"cron", "next", "--dialect", "library", "--day-match", "or", "* * * * *"}),
              kExitUsage);
    EXPECT_EQ(Run({"cron", "next", "*", "*", "*", "*", "*"}), kExitUsage);
}

TEST_F(CronCommandTest, NeverIsExitThreeAndSaysSo) {
    EXPECT_EQ(Run({"cron", "next", "0 0 30 2 *"}), kExitNever);
    EXPECT_EQ(output_.out, "");
    EXPECT_EQ(output_.err, "ksana: the expression is valid, but it never fires\n");
    EXPECT_EQ(Run({"cron", "explain", "0 0 30 2 *"}), kExitNever);
}

TEST_F(CronCommandTest, ExplainTellsInWordsAndLocalTime) {
    EXPECT_EQ(Run({"cron", "explain", "--tz", "America/New_York", "--from", "2025-03-07T12:00:00Z",
                   "30 2 * * *"}),
              0);
    EXPECT_EQ(output_.out,
              "At 02:30.\n\nNext in America/New_York:\n"
              "  Sat 2025-03-08 02:30:00 EST\n"
              "  Sun 2025-03-09 03:00:00 EDT  (moved: clocks skip its time that day)\n"
              "  Mon 2025-03-10 02:30:00 EDT\n"
              "  Tue 2025-03-11 02:30:00 EDT\n"
              "  Wed 2025-03-12 02:30:00 EDT\n");
}

TEST_F(CronCommandTest, HelpFitsEightyColumns) {
    for (const char* verb : {"next", "explain"}) {
        EXPECT_EQ(Run({"cron", verb, "--help"}), 0);
        std::size_t start = 0;
        for (std::size_t end = output_.out.find('\n'); end != std::string::npos;
             start = end + 1, end = output_.out.find('\n', start)) {
            EXPECT_LE(end - start, 80U) << output_.out.substr(start, end - start);
        }
    }
}

}  // namespace
}  // namespace ksana::app

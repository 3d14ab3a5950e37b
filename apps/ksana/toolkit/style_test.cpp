#include "apps/ksana/toolkit/style.hpp"

#include <gtest/gtest.h>

#include "apps/ksana/toolkit/api_options.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

TEST(RelativeTime, SaysWhatMatters) {
    const TimePoint now = ParseTime("2026-01-02T00:00:00Z").value();
    const auto at = [now](Duration away) { return RelativeTime(now + away, now); };
    using std::chrono::hours;
    using std::chrono::minutes;
    using std::chrono::seconds;
    EXPECT_EQ(at(Duration(0)), "now");
    EXPECT_EQ(at(std::chrono::milliseconds(900)), "now");
    EXPECT_EQ(at(seconds(-5)), "5s ago");
    EXPECT_EQ(at(seconds(90)), "in 1m30s");
    EXPECT_EQ(at(minutes(-5)), "5m ago");
    EXPECT_EQ(at(minutes(15) + seconds(20)), "in 15m");
    EXPECT_EQ(at(hours(3) + minutes(20)), "in 3h20m");
    EXPECT_EQ(at(hours(-49)), "2d ago");
    EXPECT_EQ(at(hours(24 * 800)), "in 2y");
}

class StyleTest : public ::testing::Test {
  protected:
    Style Of(std::vector<std::string> tokens) {
        const Command command{.path = "x",
                              .words = "",
                              .summary = "",
                              .details = "",
                              .options = {},
                              .run = {},
                              .asks_server = true};
        const auto arguments = ParseArguments(command, tokens);
        EXPECT_TRUE(arguments);
        return StyleOf(*arguments, process_);
    }

    FakeClock clock_{ParseTime("2026-01-02T00:00:00Z").value()};
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    Process process_{clock_, random_, ids_, {}, nullptr, nullptr, {}};
};

TEST_F(StyleTest, ColoursAreForTerminalsOnlyAndEachStreamIsJudgedByItself) {
    EXPECT_FALSE(Of({}).colour);
    process_.terminal = {.in = false, .out = true, .err = false, .dumb = false, .size = {}};
    EXPECT_TRUE(Of({}).colour);
    EXPECT_FALSE(Of({}).error_colour);
    EXPECT_FALSE(Of({"--no-color"}).colour);
    process_.environment["NO_COLOR"] = "1";
    EXPECT_FALSE(Of({}).colour);
    process_.environment["NO_COLOR"] = "";
    EXPECT_TRUE(Of({}).colour) << "an empty one says nothing (no-color.org)";
    process_.terminal.dumb = true;
    EXPECT_FALSE(Of({}).colour);
}

TEST_F(StyleTest, TimesAreRelativeOnATerminalAndElseNot) {
    const std::string time = "2026-01-01T23:59:00.123456Z";
    EXPECT_EQ(Of({}).Time(time), "2026-01-01T23:59:00Z");
    EXPECT_EQ(Of({"--time-format", "raw"}).Time(time), time);
    EXPECT_EQ(Of({"--time-format=relative"}).Time(time), "59s ago");
    process_.terminal.out = true;
    EXPECT_EQ(Of({}).Time(time), "59s ago");
    EXPECT_EQ(Of({}).Time("no time"), "no time");
}

TEST_F(StyleTest, FieldsAreDottedNames) {
    EXPECT_EQ(Of({"--fields", "id,schedule.cron,,a/b"}).fields,
              (std::vector<std::string>{"/id", "/schedule/cron", "/a~1b"}));
}

}  // namespace
}  // namespace ksana::app

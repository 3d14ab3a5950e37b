#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"
#include "ksana/schedule/schedule.hpp"

// K-22, N-08: the cases of tests/data/cron/.

namespace ksana::schedule {
namespace {

namespace fs = std::filesystem;

struct Line {
    std::string file;
    int number = 0;
    std::vector<std::string> columns;

    std::string Where() const { return file + ":" + std::to_string(number) + ": " + columns.at(0); }
};

std::string Trim(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    const auto last = text.find_last_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<Line> ReadLines(const fs::path& path) {
    std::vector<Line> lines;
    std::ifstream file(path);
    int number = 0;
    for (std::string text; std::getline(file, text);) {
        ++number;
        if (text.empty() || text[0] == '#') continue;
        Line line{path.filename().string(), number, {}};
        std::stringstream columns(text);
        for (std::string column; std::getline(columns, column, '|');) {
            line.columns.push_back(Trim(column));
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

fs::path Folder() { return fs::path(KSANA_SOURCE_DIR) / "tests" / "data" / "cron"; }

// Applies options such as "gap=skip fold=both". Returns false for an unknown one.
bool ApplyOptions(const std::string& text, ScheduleSpec& spec) {
    std::stringstream words(text);
    for (std::string word; words >> word;) {
        if (word == "gap=skip") {
            spec.dst.gap = GapPolicy::kSkip;
        } else if (word == "fold=second") {
            spec.dst.fold = FoldPolicy::kSecond;
        } else if (word == "fold=both") {
            spec.dst.fold = FoldPolicy::kBoth;
        } else if (word == "day_match=and") {
            spec.day_match = DayMatch::kAnd;
        } else if (word == "dialect=library") {
            spec.dialect = CronDialect::kLibrary;
        } else if (word != "gap=run_after" && word != "fold=first" && word != "day_match=or" &&
                   word != "dialect=standard") {
            return false;
        }
    }
    return true;
}

void CheckNext(const Line& line, ZoneDatabase& zones) {
    ASSERT_EQ(line.columns.size(), 5U) << line.Where();
    ScheduleSpec spec;
    spec.kind = ScheduleKind::kCron;
    spec.cron = line.columns[0];
    spec.zone = line.columns[1];
    ASSERT_TRUE(ApplyOptions(line.columns[2], spec)) << line.Where();
    const auto schedule = Schedule::Compile(spec, {zones, {}, {}});
    ASSERT_TRUE(schedule) << line.Where() << ": " << schedule.error().Describe();
    auto at = ParseTime(line.columns[3]);
    ASSERT_TRUE(at) << line.Where();
    if (line.columns[4] == "never") {
        EXPECT_FALSE(schedule->NextInDialect(*at)) << line.Where();
        return;
    }
    std::stringstream fires(line.columns[4]);
    for (std::string expected; fires >> expected;) {
        const auto next = schedule->NextInDialect(*at);
        ASSERT_TRUE(next) << line.Where() << ": nothing, expected " << expected;
        ASSERT_EQ(FormatTime(*next), expected) << line.Where();
        // Previous must return the same fire.
        ASSERT_EQ(schedule->Previous(*next + Duration(1)), next) << line.Where();
        at = *next;
    }
}

TEST(CronCases, NextFires) {
    ZoneDatabase zones;
    std::size_t cases = 0;
    for (const auto& entry : fs::directory_iterator(Folder())) {
        if (entry.path().filename() == "invalid.txt") continue;
        for (const Line& line : ReadLines(entry.path())) {
            CheckNext(line, zones);
            ++cases;
        }
    }
    EXPECT_GT(cases, 180U);
}

TEST(CronCases, InvalidExpressionsAreRefusedAtTheRightPlace) {
    std::size_t cases = 0;
    for (const Line& line : ReadLines(Folder() / "invalid.txt")) {
        ASSERT_EQ(line.columns.size(), 3U) << line.Where();
        ScheduleSpec spec;
        ASSERT_TRUE(ApplyOptions(line.columns[1], spec)) << line.Where();
        const std::string text = line.columns[0] == "<empty>" ? "" : line.columns[0];
        const CronParsed parsed = ParseCronText(text, {spec.dialect, spec.day_match});
        EXPECT_NE(parsed.fault.kind, CronFault::Kind::kNone) << line.Where();
        EXPECT_FALSE(DescribeCronFault(text, parsed.fault, spec.dialect).empty()) << line.Where();
        EXPECT_LE(parsed.fault.position + parsed.fault.length, text.size()) << line.Where();
        if (line.columns[2] != "-") {
            EXPECT_EQ(std::to_string(parsed.fault.position), line.columns[2]) << line.Where();
        }
        ++cases;
    }
    EXPECT_GT(cases, 90U);
}

}  // namespace
}  // namespace ksana::schedule

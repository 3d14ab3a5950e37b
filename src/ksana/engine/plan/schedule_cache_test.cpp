#include "ksana/engine/plan/schedule_cache.hpp"

#include <gtest/gtest.h>

namespace ksana::engine {
namespace {

std::shared_ptr<const schedule::CalendarIndex> Excluding(const schedule::Date& date) {
    schedule::Calendar calendar;
    calendar.name = "c";
    schedule::CalendarRule rule;
    rule.dates = {date, date};
    calendar.exclude.push_back(rule);
    return std::make_shared<const schedule::CalendarIndex>(calendar);
}

// A reader compiles with the old calendar while the calendar changes and the cache is cleared. The
// outdated result must not be cached.
TEST(ScheduleCache, DoesNotKeepWhatWasCompiledWithWhatHasChangedSince) {
    schedule::ZoneDatabase zones;
    int asked = 0;
    ScheduleCache* to_forget = nullptr;
    ScheduleCache book(zones, [&](std::string_view) {
        ++asked;
        if (asked == 1) to_forget->Forget();
        return Excluding({2026, 1, asked == 1 ? 1 : 2});
    });
    to_forget = &book;
    model::Job job;
    job.id = "j";
    job.state.version = 1;
    job.schedule.kind = schedule::ScheduleKind::kCron;
    job.schedule.cron = "0 12 * * *";
    job.schedule.calendar = "c";
    const TimePoint midnight = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
    EXPECT_EQ(book.Of(job)->Next(midnight), midnight + std::chrono::hours(36));
    EXPECT_EQ(book.Of(job)->Next(midnight), midnight + std::chrono::hours(12));
    EXPECT_EQ(asked, 2);
    EXPECT_TRUE(book.Of(job));
    EXPECT_EQ(asked, 2) << "kept";
}

}  // namespace
}  // namespace ksana::engine

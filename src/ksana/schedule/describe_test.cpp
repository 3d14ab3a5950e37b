#include "ksana/schedule/describe.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"

namespace ksana::schedule {
namespace {

TEST(DescribeCron, IsASentence) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"* * * * *", "Every minute."},
        {"*/5 * * * *", "Every 5 minutes."},
        {"0 * * * *", "Every hour."},
        {"30 * * * *", "At minute 30 of every hour."},
        {"0 */2 * * *", "Every 2 hours."},
        {"0 9-17 * * MON-FRI", "Every hour from 09:00 through 17:00 on Monday through Friday."},
        {"*/10 9-17 * * *", "Every 10 minutes from 09:00 through 17:59."},
        {"0 3 * * 1", "At 03:00 on Monday."},
        {"0 3,15 * * *", "At 03:00 and 15:00."},
        {"0 0 29 2 *", "At 00:00 on day 29 of the month, in February."},
        {"0 0 1,15 * 5", "At 00:00 on days 1 and 15 of the month, or on Friday."},
        {"0 0 L * *", "At 00:00 on the last day of the month."},
        {"0 0 L-3 * ?", "At 00:00 3 days before the last day of the month."},
        {"0 0 15W * *", "At 00:00 on the working day nearest to day 15 of the month."},
        {"0 0 LW 6-8 *", "At 00:00 on the last working day of the month, in June through August."},
        {"0 8 * * 2#1", "At 08:00 on the first Tuesday of the month."},
        {"0 8 * * 5L", "At 08:00 on the last Friday of the month."},
        {"0 8 * * 6,0", "At 08:00 on Saturday and Sunday."},
        {"* * * * * *", "Every second."},
        {"*/15 * * * * *", "Every 15 seconds."},
        {"30 0 12 * * *", "At 12:00:30."},
        {"5,10,40 1-3 * * *", "At minutes 5, 10 and 40 from 01:00 through 03:59."},
        {"0 0 */2 * 1",
         "At 00:00 on days 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31 of the "
         "month, and only on Monday."},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_EQ(DescribeCron(*ParseCron(text)), expected) << text;
    }
}

TEST(DescribeSchedule, TellsZoneBoundsJitterAndCalendar) {
    ScheduleSpec spec;
    spec.run_at = *ParseTime("2026-01-01T00:00:00Z");
    EXPECT_EQ(DescribeSchedule(spec), "Once, at 2026-01-01T00:00:00Z.");
    spec.kind = ScheduleKind::kEvery;
    spec.every = std::chrono::minutes(90);
    spec.jitter = std::chrono::seconds(5);
    EXPECT_EQ(DescribeSchedule(spec), "Every 1h30m, spread over 5s.");
    spec.kind = ScheduleKind::kCron;
    spec.cron = "0 3 * * *";
    spec.zone = "Asia/Shanghai";
    spec.calendar = "cn";
    EXPECT_EQ(DescribeSchedule(spec),
              "At 03:00, Asia/Shanghai time, spread over 5s, except where calendar cn says so.");
}

}  // namespace
}  // namespace ksana::schedule

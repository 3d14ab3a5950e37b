#include "ksana/schedule/local_time.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::schedule {
namespace {

TEST(LocalTime, IsWhatPeopleThereRead) {
    ZoneDatabase zones;
    const auto text = [&](const char* zone, const char* at) {
        return LocalTimeText(**zones.Find(zone), ParseTime(at).value());
    };
    EXPECT_EQ(text("UTC", "2026-01-01T00:00:00Z"), "Thu 2026-01-01 00:00:00 UTC");
    EXPECT_EQ(text("Europe/Berlin", "2026-03-29T00:59:59Z"), "Sun 2026-03-29 01:59:59 CET");
    EXPECT_EQ(text("Europe/Berlin", "2026-03-29T01:00:00Z"), "Sun 2026-03-29 03:00:00 CEST");
    EXPECT_EQ(text("UTC", "2026-01-01T00:00:00.25Z"), "Thu 2026-01-01 00:00:00.25 UTC");
    EXPECT_EQ(text("UTC", "1969-12-31T23:59:59.000001Z"), "Wed 1969-12-31 23:59:59.000001 UTC");
}

TEST(LocalTime, NotesAreRemarks) {
    EXPECT_EQ(DstNoteText(DstNote::kNone), "");
    EXPECT_EQ(DstNoteText(DstNote::kAfterGap), "moved: clocks skip its time that day");
}

}  // namespace
}  // namespace ksana::schedule

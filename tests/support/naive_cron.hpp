#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/schedule/cron/zoned_cron.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::testing {

// A cron expression that the property tests made up: its text, and what it means, kept as plain
// lists by the code that wrote the text. It shares nothing with the parser or the bit masks.
struct NaiveCron {
    std::string text;
    bool has_seconds = false;
    bool fixed_time = true;
    bool both_restricted = false;
    bool day_match_and = false;
    std::array<std::vector<bool>, 6> fields;  // second minute hour day month weekday
    bool day_last = false;
    bool weekday_last = false;
    std::vector<int> nearest;                       // nW
    std::vector<std::pair<int, int>> nth_weekdays;  // (weekday, n)
    std::vector<int> last_weekdays;
    std::vector<int> days_before_last;
    bool last_working_day = false;
};

NaiveCron MakeRandomCron(Random& random);

// Whether a local second (since 1970) matches, by looking at every field of the broken-down time.
bool Matches(const NaiveCron& cron, std::int64_t local);

// The first fire after `after`, found by asking every minute (or second) up to `until`.
std::optional<std::int64_t> NaiveNext(const NaiveCron& cron, const schedule::Zone& zone,
                                      schedule::DstPolicy policy, std::int64_t after,
                                      std::int64_t until);

}  // namespace ksana::testing

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

// A random cron expression for property tests: its text, and its meaning as plain lists. The code
// that writes the text also fills the lists, so they share nothing with the parser or the bit
// masks.
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

// Returns whether a local second (since 1970) matches, by checking every field of the broken-down
// time.
bool Matches(const NaiveCron& cron, std::int64_t local);

// Returns the first fire after `after`, by checking every minute (or second) up to `until`.
std::optional<std::int64_t> NaiveNext(const NaiveCron& cron, const schedule::Zone& zone,
                                      schedule::DstPolicy policy, std::int64_t after,
                                      std::int64_t until);

}  // namespace ksana::testing

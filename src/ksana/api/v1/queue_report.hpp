#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// What waits of one type, or of all types of a category.
struct QueueLine {
    std::optional<model::ActionKind> kind;  // of a type
    std::optional<std::string> type;
    std::string category;
    std::int64_t scheduled = 0;
    std::int64_t queued = 0;
    std::int64_t running = 0;
    std::int64_t held = 0;
    std::int64_t completing = 0;
    std::optional<TimePoint> oldest;  // since when the first of the queued could have been taken
    double submitted_per_second = 0;
    double finished_per_second = 0;
    double failed_per_second = 0;  // of those that finished
};

struct QueueReport {
    TimePoint at{};
    std::vector<QueueLine> types;
    std::vector<QueueLine> categories;
};

struct QueueQuestion {
    std::string type;      // empty: all
    std::string category;  // empty: all
    // A type's category. Depths are counted by type: what was submitted with a category of its own
    // stands under that of its type.
    std::function<std::string(const std::string& type)> category_of;
};

// Rates are of the last minute, or of as much of it as the newest kRateSample runs tell.
inline constexpr Duration kRateWindow = std::chrono::minutes(1);
inline constexpr std::size_t kRateSample = 1'000;

Result<QueueReport> ReadQueues(store::Store& store, const QueueQuestion& question);

}  // namespace ksana::api

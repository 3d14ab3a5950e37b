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

// Queue statistics of one type, or of all types of a category.
struct QueueLine {
    std::optional<model::ActionKind> kind;  // none: a category
    std::optional<std::string> type;
    std::string category;
    std::int64_t scheduled = 0;
    std::int64_t queued = 0;
    std::int64_t running = 0;
    std::int64_t held = 0;
    std::int64_t completing = 0;
    std::optional<TimePoint> oldest;  // since when the oldest queued run could have been claimed
    double submitted_per_second = 0;
    double finished_per_second = 0;
    double failed_per_second = 0;  // of those that finished
};

struct QueueReport {
    TimePoint at{};
    std::vector<QueueLine> types;
    std::vector<QueueLine> categories;
};

// Filter of a queue report.
struct QueueQuestion {
    std::string type;      // empty: all
    std::string category;  // empty: all
    // Returns the category of a type. Depths are counted by type: a run that was submitted with a
    // category of its own counts under the category of its type.
    std::function<std::string(const std::string& type)> category_of;
};

// Rates cover the last minute, or the part of it that the newest kRateSample runs span.
inline constexpr Duration kRateWindow = std::chrono::minutes(1);
inline constexpr std::size_t kRateSample = 1'000;

Result<QueueReport> ReadQueues(store::Store& store, const QueueQuestion& question);

}  // namespace ksana::api

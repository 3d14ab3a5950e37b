#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/job/backfill.hpp"

namespace ksana::codec {

// Write and read the stored form.
std::string BackfillToJson(const model::Backfill& backfill);
Result<model::Backfill> BackfillFromJson(std::string_view text);

// Returns a backfill as /api/v1 shows it.
std::string BackfillViewToJson(const model::Backfill& backfill);
extern const NamedSchema kBackfillSchema;

// Write and read the fires of a backfill, in order, as steps from one to the next, which keeps long
// lists small.
std::string FiresToJson(const std::vector<TimePoint>& fires);
Result<std::vector<TimePoint>> FiresFromJson(std::string_view text);

// A backfill as a client requests it.
struct BackfillRequest {
    TimePoint from{};
    TimePoint to{};
    bool dry_run = true;
    std::optional<std::int64_t> max;
    std::optional<std::int64_t> per_minute;
    model::BackfillOverlap overlap = model::BackfillOverlap::kQueue;
    std::string parameters;  // JSON object; empty: none
};
Result<BackfillRequest> BackfillRequestFromJson(std::string_view text);
extern const NamedSchema kBackfillRequestSchema;

}  // namespace ksana::codec

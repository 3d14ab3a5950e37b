#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

// Jobs in the terms of document N (N-19): names in camelCase, times in UTC epoch milliseconds.

namespace ksana::codec {

// A JobStatus of the document (N-15).
struct AdminJob {
    std::string id;
    bool enabled = true;
    std::string cron;          // empty: not by cron
    Duration fixed_rate{};     // zero: not at a fixed rate
    Duration initial_delay{};  // with fixed_rate only
    std::string mode;          // "SINGLE_NODE" or "ALL_NODES"
    std::optional<std::int64_t> last_fire_time;
    std::optional<std::int64_t> last_duration;  // milliseconds
    std::string last_result;                    // SUCCESS, FAILED, SKIPPED or empty
    std::optional<std::int64_t> next_fire_time;
    std::int64_t run_count = 0;
    std::int64_t fail_count = 0;
    // The time of a job that fires once, which the document does not have.
    std::optional<std::int64_t> run_at = std::nullopt;
};

// Return jobs as the document names their members, with null for missing values.
std::string AdminJobToJson(const AdminJob& job);
std::string AdminJobsToJson(std::span<const AdminJob> jobs);

// Reads the parameters of a trigger: a JSON object whose values are texts, or nothing.
using AdminParameters = std::map<std::string, std::string>;
Result<AdminParameters> AdminParametersFromJson(std::string_view text);
// Returns the parameters as a JSON object; empty if there are none.
std::string AdminParametersToJson(const AdminParameters& parameters);

// The body of update-status.
struct AdminStatusChange {
    std::string id;
    bool enabled = false;
};
Result<AdminStatusChange> AdminStatusChangeFromJson(std::string_view text);

}  // namespace ksana::codec

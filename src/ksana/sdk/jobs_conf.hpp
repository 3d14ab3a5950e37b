#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/scheduler.hpp"

namespace ksana::sdk {

// The overrides of one job in jobs.conf; what is not given stays as declared.
struct JobOverride {
    std::string id;
    int line = 0;
    std::optional<bool> enabled;
    std::optional<std::string> cron;
    std::optional<Duration> fixed_rate;
    std::optional<Duration> initial_delay;
    std::optional<Duration> lock_ttl;
    std::optional<ExecutionMode> mode;
};

// jobs.conf (N-06): TOML with `[jobs] enabled` and `[[jobs.items]]`.
struct JobsConf {
    std::string file;  // for messages
    std::optional<bool> enabled;
    std::vector<JobOverride> items;
};

// Reads the text of the file. The error lists every fault as "FILE:LINE/path", with the nearest
// known key for one that is unknown.
Result<JobsConf> ParseJobsConf(const std::string& file, std::string_view text);

// Reads the file; none: it does not exist.
Result<std::optional<JobsConf>> ReadJobsConf(const std::string& file);

// Applies the overrides to the job with the same id. A new cron takes the place of a fixed rate,
// and the other way round.
void Override(JobSpec& spec, const JobsConf& conf);

// Returns the faults of items that name none of the jobs.
std::vector<Problem> UnknownIds(const JobsConf& conf, const std::vector<std::string_view>& ids);

}  // namespace ksana::sdk

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/insight/simulate/simulation.hpp"
#include "ksana/insight/sources.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::insight {

inline constexpr Duration kMaxSimulated = std::chrono::days(400);
inline constexpr std::size_t kMaxSimulatedJobs = 100'000;

struct SimulateParams {
    TimePoint from{};
    TimePoint to{};  // exclusive; at most kMaxSimulated after `from`
    bool stored = true;
    std::vector<model::Job> changes;   // replace stored jobs of the same id, or are added
    std::vector<std::string> without;  // ids of stored jobs to leave out
    // The duration of a run: from `durations` by job id, else the median of the job's runs if
    // `measure` is set, else `default_duration`.
    std::map<std::string, Duration> durations;
    bool measure = true;
    Duration default_duration = std::chrono::seconds(1);
    std::optional<std::int64_t> slots;  // concurrent runs of all jobs; none: unlimited
    std::size_t max_jobs = kMaxSimulatedJobs;
    std::int64_t max_fires = 0;  // total over all jobs; more is an error. 0: no limit
    std::size_t examples = 10;   // per kind
};

// Simulates jobs on a virtual clock: which fires start, which overlap, and how many run at a time.
// Every run of a job takes the same time and succeeds; locks and retries are ignored. Runs wait for
// the jobs they depend on, and the ends of runs make the fires of `after` schedules; a job that has
// not run yet is taken to have succeeded before.
// Read-only: reads jobs and their durations from the store. Needs memory for each job and for each
// second (or minute) of the window. Returns kInvalidArgument for bad parameters. Thread-safe.
Result<Simulation> Simulate(const Sources& sources, const SimulateParams& params);

// Returns every problem of the changes, as if they were to be stored ("/changes/0/schedule/cron").
// Optional: Simulate reports an unchecked job with a bad schedule as broken.
Result<void> CheckChanges(const Sources& sources, const SimulateParams& params);

// Parses {"from": …, "to": …, "stored": true, "changes": [jobs], "without": [ids], "durations":
// {id: …}, "default_duration": …, "slots": …}. The error lists every problem.
Result<SimulateParams> SimulateParamsFromJson(std::string_view text);
extern const codec::NamedSchema kSimulateRequestSchema;

}  // namespace ksana::insight

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
    TimePoint to{};  // fires in [from, to), at most kMaxSimulated
    bool stored = true;
    std::vector<model::Job> changes;   // take the place of stored jobs, or come in addition
    std::vector<std::string> without;  // stored jobs that are left out
    // How long a run takes: what is given here, else the median of the job's runs, else this.
    std::map<std::string, Duration> durations;
    bool measure = true;
    Duration default_duration = std::chrono::seconds(1);
    std::optional<std::int64_t> slots;  // runs at once, of all jobs; none: as many as come
    std::size_t max_jobs = kMaxSimulatedJobs;
    std::int64_t max_fires = 0;  // of all jobs together; with more it is refused. 0: no limit
    std::size_t examples = 10;   // of each kind
};

// The jobs on a virtual clock: what fires, what overlaps, and how much runs when. Every run takes
// the same time and ends well; dependencies, locks and retries are left out. Pure but for the
// reading of jobs and of how long they take. Memory: a few words for each job and for each second.
Result<Simulation> Simulate(const Sources& sources, const SimulateParams& params);

// Every fault of the changes, as if they were to be stored ("/changes/0/schedule/cron"). What is
// not checked is told by the simulation as broken.
Result<void> CheckChanges(const Sources& sources, const SimulateParams& params);

// {"from": …, "to": …, "stored": true, "changes": [jobs], "without": [ids], "durations": {id: …},
//  "default_duration": …, "slots": …}. Every fault at once.
Result<SimulateParams> SimulateParamsFromJson(std::string_view text);
extern const codec::NamedSchema kSimulateRequestSchema;

}  // namespace ksana::insight

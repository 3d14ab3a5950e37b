#include "ksana/sdk/stored/scheduler_admin.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/sdk/scheduler_core.hpp"

namespace ksana::sdk {
namespace {

std::string WordOf(std::optional<JobResult> result) {
    if (!result) return "";
    return *result == JobResult::kSuccess  ? "SUCCESS"
           : *result == JobResult::kFailed ? "FAILED"
                                           : "SKIPPED";
}

api::AdminJob AdminJobOf(const JobStatus& job) {
    return {.id = job.id,
            .enabled = job.enabled,
            .cron = job.schedule.cron,
            .fixed_rate = job.schedule.fixed_rate,
            .initial_delay = job.schedule.initial_delay,
            .mode = job.mode == ExecutionMode::kSingleNode ? "SINGLE_NODE" : "ALL_NODES",
            .last_fire_time = job.last_fire_time,
            .last_duration = job.last_duration,
            .last_result = WordOf(job.last_result),
            .next_fire_time = job.next_fire_time,
            .run_count = job.run_count,
            .fail_count = job.fail_count};
}

}  // namespace

Result<std::vector<api::AdminJob>> SchedulerAdmin::List() {
    std::vector<api::AdminJob> jobs;
    for (const JobStatus& job : core_.Snapshot()) jobs.push_back(AdminJobOf(job));
    return jobs;
}

Result<api::AdminJob> SchedulerAdmin::Get(const std::string& id) {
    const std::vector<JobStatus> all = core_.Snapshot();
    const auto found = std::ranges::find(all, id, &JobStatus::id);
    if (found != all.end()) return AdminJobOf(*found);
    return Error(Code::kNotFound, fmt::format("there is no job \"{}\"", Printable(id)));
}

Result<void> SchedulerAdmin::Trigger(const std::string& id,
                                     const std::map<std::string, std::string>& parameters,
                                     const engine::Actor& by) {
    return core_.Trigger(id, Parameters(parameters.begin(), parameters.end()), by);
}

Result<void> SchedulerAdmin::SetEnabled(const std::string& id, bool enabled,
                                        const engine::Actor& by) {
    return core_.SetEnabled(id, enabled, by);
}

}  // namespace ksana::sdk

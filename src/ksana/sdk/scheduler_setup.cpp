#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/sdk/job_check.hpp"
#include "ksana/sdk/scheduler_core.hpp"
#include "ksana/server/open_locks.hpp"

// What Scheduler::Start does before anything runs: declarations, jobs.conf, locks.

namespace ksana::detail {
namespace {

// Policies of removed jobs that are kept in the table before it is cleaned.
constexpr std::size_t kSparePolicies = 64;

}  // namespace

Result<void> SchedulerCore::Prepare() {
    const MutexLock lock(mutex_);
    if (options_.threads == kNoThreads && !(options_.store.empty() && options_.http.empty())) {
        return Error(Code::kInvalidArgument, "the kit for tests has no stores and no HTTP");
    }
    if (!handlers_.empty() && options_.store.empty() && options_.http.empty()) {
        return Error(Code::kInvalidArgument, "handlers of tasks need a store");
    }
    enabled_ = options_.enabled;
    KSANA_TRY_VOID(AddDeclared());
    if (!options_.config.empty()) KSANA_TRY_VOID(ApplyConf());
    KSANA_TRY_VOID(OpenLocks());
    KSANA_TRY_VOID(CheckLocks());
    JobExecutionListener* listener = options_.listener;
    if (listener == nullptr) listener = context_.Find<JobExecutionListener>();
    runner_.Use(locks_.get(), listener);
    return {};
}

// Makes the object of every declared job. Names all that is missing, and ids that stand twice: the
// linker does not see those of two shared libraries.
Result<void> SchedulerCore::AddDeclared() {
    std::vector<Problem> problems;
    std::vector<std::string_view> seen;
    for (const Registration* job = DeclaredJobs(); job != nullptr; job = job->next) {
        const std::string_view id = job->declaration.id;
        if (std::ranges::find(seen, id) != seen.end()) {
            problems.push_back({.path = std::string(id), .message = "is declared twice"});
        }
        seen.push_back(id);
        if (sdk::JobEntry* const there = Find(id); there != nullptr && there->declared) {
            // Started before: what jobs.conf said then is forgotten.
            KSANA_TRY_VOID(Apply(sdk::SpecOf(job->declaration), *there));
            continue;
        }
        auto object = sdk::MakeObject(*job, context_);
        if (!object) {
            std::ranges::move(std::move(object).error().problems, std::back_inserter(problems));
            continue;
        }
        if (auto added = AddEntry(sdk::SpecOf(job->declaration), *std::move(object), true);
            !added) {
            problems.push_back({.path = std::string(id), .message = added.error().Describe()});
        }
    }
    if (!problems.empty()) return Error(std::move(problems)).WithContext("jobs");
    return {};
}

Result<void> SchedulerCore::ApplyConf() {
    KSANA_TRY(const auto conf, sdk::ReadJobsConf(options_.config));
    if (!conf) {
        Log(LogLevel::kWarn, "there is no such file; the jobs run as they are declared",
            {{"config", options_.config}});
        return {};
    }
    if (conf->enabled) enabled_ = *conf->enabled;
    std::vector<std::string_view> ids;
    for (const auto& [id, entry] : entries_) ids.push_back(id);
    std::vector<Problem> problems = sdk::UnknownIds(*conf, ids);
    for (const sdk::JobOverride& item : conf->items) {
        sdk::JobEntry* const entry = Find(item.id);
        if (entry == nullptr) continue;
        JobSpec spec = entry->policy->spec;
        spec.id = entry->id;
        spec.enabled = entry->enabled;
        spec.fixed_rate = entry->fixed_rate;
        spec.initial_delay = entry->initial_delay;
        sdk::Override(spec, *conf);
        if (auto applied = Apply(std::move(spec), *entry); !applied) {
            for (Problem problem : applied.error().problems) {
                problem.path = fmt::format("{}:{}{}", conf->file, item.line, problem.path);
                problems.push_back(std::move(problem));
            }
        }
    }
    if (!problems.empty()) return Error(std::move(problems)).WithContext(options_.config);
    return {};
}

void SchedulerCore::UseLocksForTest(std::unique_ptr<lock::LockDriver> driver) {
    const MutexLock lock(mutex_);
    lock_driver_ = std::move(driver);
    locks_ =
        std::make_unique<lock::LockManager>(*lock_driver_, clock_, random_, options_.lock_prefix);
}

Result<void> SchedulerCore::OpenLocks() {
    if (locks_) return {};
    if (options_.lock.empty() || options_.lock == "store") {
        const bool stored = !options_.store.empty() || !options_.http.empty();
        if (stored || options_.lock.empty()) return {};
        return Error(Code::kInvalidArgument, "lock: \"store\" needs a store");
    }
    auto url = lock::ParseLockUrl(options_.lock);
    if (!url) return std::move(url).error().WithContext("lock");
    auto driver = server::OpenLocks(*url, clock_);
    if (!driver) return std::move(driver).error().WithContext("lock");
    lock_driver_ = *std::move(driver);
    locks_ =
        std::make_unique<lock::LockManager>(*lock_driver_, clock_, random_, options_.lock_prefix);
    return {};
}

// N-13: a job for one node needs something that the nodes share: a lock, or the store.
Result<void> SchedulerCore::CheckLocks() {
    if (locks_ || !options_.store.empty() || !options_.http.empty()) return {};
    std::vector<Problem> problems;
    for (const auto& [id, entry] : entries_) {
        if (entry->policy->spec.mode != ExecutionMode::kSingleNode) continue;
        problems.push_back({.path = std::string(id),
                            .message = "runs on a single node and needs a lock: give the scheduler "
                                       "a `lock` (\"memory:\" for one process) or a `store`, or "
                                       "the job the mode kAllNodes"});
    }
    if (problems.empty()) return {};
    std::ranges::sort(problems, {}, &Problem::path);
    return Error(std::move(problems)).WithContext("jobs");
}

// Gives the entry what the spec says. After an error it is as before.
Result<void> SchedulerCore::Apply(JobSpec spec, sdk::JobEntry& entry) {
    const Duration fixed_rate = std::exchange(spec.fixed_rate, {});
    const Duration initial_delay = std::exchange(spec.initial_delay, {});
    const bool enabled = std::exchange(spec.enabled, true);
    spec.id.clear();
    KSANA_TRY(entry.policy, PolicyOf(std::move(spec)));
    entry.fixed_rate = fixed_rate;
    entry.initial_delay = initial_delay;
    entry.enabled = enabled;
    return {};
}

Result<std::shared_ptr<const sdk::JobPolicy>> SchedulerCore::PolicyOf(JobSpec spec) {
    if (policies_.size() > 2 * entries_.size() + kSparePolicies) {
        std::erase_if(policies_, [](const auto& kept) { return kept.second.expired(); });
    }
    std::string key = sdk::PolicyKey(spec);
    std::weak_ptr<const sdk::JobPolicy>& kept = policies_[key];
    if (auto policy = kept.lock()) return policy;
    auto compiled = sdk::CompileJob(std::move(spec), zones_);
    if (!compiled) {
        policies_.erase(key);
        return std::move(compiled).error();
    }
    kept = *compiled;
    return *std::move(compiled);
}

}  // namespace ksana::detail

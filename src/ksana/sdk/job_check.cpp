#include "ksana/sdk/job_check.hpp"

#include <fmt/core.h>

#include "ksana/base/text/names.hpp"

namespace ksana::sdk {

JobSpec SpecOf(const JobDeclaration& declared) {
    return {.id = std::string(declared.id),
            .cron = std::string(declared.cron),
            .fixed_rate = declared.fixed_rate,
            .initial_delay = declared.initial_delay,
            .mode = declared.mode,
            .lock_ttl = declared.lock_ttl.value_or(kDefaultLockTtl),
            .enabled = declared.enabled,
            .zone = std::string(declared.zone),
            .dialect = declared.dialect,
            .timeout = declared.timeout,
            .retry = declared.retry,
            .group = std::string(declared.group),
            .misfire = declared.misfire};
}

Result<void> CheckJob(const JobSpec& spec) {
    std::vector<Problem> problems;
    const auto fault = [&](std::string path, std::string message) {
        problems.push_back({.path = std::move(path), .message = std::move(message)});
    };
    if (!IsIdentifier(spec.id)) {
        fault("/id", fmt::format("is {}", kIdentifierRule));
    }
    if (spec.fixed_rate < Duration::zero()) fault("/fixed_rate", "must not be negative");
    const bool has_rate = spec.fixed_rate > Duration::zero();
    if (!has_rate && spec.cron.empty()) fault("/cron", "either cron or fixed_rate is needed");
    if (has_rate && !spec.cron.empty()) fault("/cron", "must not stand beside fixed_rate");
    if (spec.initial_delay < Duration::zero()) fault("/initial_delay", "must not be negative");
    if (spec.lock_ttl <= Duration::zero() || spec.lock_ttl > kMaxLockTtl) {
        fault("/lock_ttl", "must be positive, and 30 days at most");
    }
    if (spec.retry.interval < Duration::zero() || spec.retry.max_interval < Duration::zero()) {
        fault("/retry/interval", "must not be negative");
    }
    if (spec.timeout < Duration::zero()) fault("/timeout", "must not be negative");
    if (spec.retry.max_retries < 0) fault("/retry/max_retries", "must not be negative");
    if (!spec.group.empty() && !IsIdentifier(spec.group)) {
        fault("/group", fmt::format("is {}", kIdentifierRule));
    }
    if (problems.empty()) return {};
    return Error(std::move(problems));
}

Result<std::shared_ptr<const JobPolicy>> CompileJob(JobSpec spec, schedule::ZoneDatabase& zones) {
    auto policy = std::make_shared<JobPolicy>();
    if (!spec.cron.empty()) {
        schedule::ScheduleSpec wanted;
        wanted.kind = schedule::ScheduleKind::kCron;
        wanted.cron = spec.cron;
        wanted.dialect = spec.dialect;
        if (!spec.zone.empty()) wanted.zone = spec.zone;
        KSANA_TRY(auto compiled,
                  schedule::Schedule::Compile(
                      wanted, {.zones = zones, .created_at = {}, .find_calendar = {}}));
        policy->cron = std::move(compiled);
    }
    policy->spec = std::move(spec);
    return std::shared_ptr<const JobPolicy>(std::move(policy));
}

std::string PolicyKey(const JobSpec& spec) {
    return fmt::format("{}\n{}\n{}\n{} {} {} {} {} {} {} {} {}", spec.cron, spec.zone, spec.group,
                       static_cast<int>(spec.mode), spec.lock_ttl.count(),
                       static_cast<int>(spec.dialect), spec.timeout.count(), spec.retry.max_retries,
                       spec.retry.interval.count(), spec.retry.exponential,
                       spec.retry.max_interval.count(), static_cast<int>(spec.misfire));
}

Result<detail::JobObject> MakeObject(const detail::Registration& job, Context& context) {
    const std::string id(job.declaration.id);
    std::vector<Problem> problems;
    try {
        return job.factory(context);
    } catch (const detail::MissingDependencies& missing) {
        for (const std::string& type : missing.types) {
            problems.push_back(
                {.path = id,
                 .message = fmt::format("its constructor needs a {}, which is not bound "
                                        "in the context",
                                        type)});
        }
    } catch (const std::exception& error) {
        problems.push_back(
            {.path = id, .message = fmt::format("its constructor threw: {}", error.what())});
    } catch (...) {
        problems.push_back({.path = id, .message = "its constructor threw"});
    }
    return Error(std::move(problems));
}

}  // namespace ksana::sdk

#include "ksana/sdk/timer/job_timer.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/model/run/retry.hpp"

namespace ksana::sdk {
namespace {

// A fire that starts this late still counts as on time.
constexpr Duration kGrace = std::chrono::seconds(5);
// Smaller differences between the clocks are drift or the time between two readings.
constexpr Duration kLeastJump = std::chrono::milliseconds(50);
constexpr int kMostCaughtUp = 100;
// A timer may wake up this early, as wall and steady clock are read one after the other.
constexpr Duration kEarliest = std::chrono::milliseconds(1);

TimePoint PointOf(std::int64_t microseconds) { return TimePoint(Duration(microseconds)); }

// The number of fires after `last` up to and with `until`.
std::int64_t CountFires(const JobPolicy& policy, TimePoint last, TimePoint until) {
    if (policy.cron) return policy.cron->Count(last, until);
    return until <= last ? 0 : (until - last) / policy.spec.fixed_rate;
}

std::int64_t OffsetOf(const Clock& clock) {
    const auto steady = std::chrono::floor<Duration>(clock.SteadyNow().time_since_epoch());
    return (clock.Now().time_since_epoch() - steady).count();
}

// The fires of [nominal, now] that run after the misfire policy, by the rules of the engine.
std::vector<TimePoint> CaughtUp(const JobPolicy& policy, TimePoint nominal, TimePoint now) {
    std::vector<TimePoint> fires;
    if (policy.spec.misfire == Misfire::kSkip) return fires;
    const std::int64_t count = 1 + CountFires(policy, nominal, now);
    const std::int64_t wanted = policy.spec.misfire == Misfire::kRunLatest
                                    ? 1
                                    : std::min<std::int64_t>(count, kMostCaughtUp);
    if (!policy.cron) {
        for (std::int64_t n = count - wanted; n < count; ++n) {
            fires.push_back(nominal + n * policy.spec.fixed_rate);
        }
        return fires;
    }
    std::optional<TimePoint> fire = policy.cron->Previous(now + Duration(1));
    while (fire && *fire >= nominal && static_cast<std::int64_t>(fires.size()) < wanted) {
        fires.push_back(*fire);
        fire = policy.cron->Previous(*fire);
    }
    std::ranges::reverse(fires);
    return fires;
}

}  // namespace

std::optional<TimePoint> NextFire(const JobPolicy& policy, TimePoint last, TimePoint after) {
    if (policy.cron) return policy.cron->NextInDialect(after);
    const Duration rate = policy.spec.fixed_rate;
    const TimePoint next = last + rate;
    if (next > after) return next;
    return next + ((after - next) / rate + 1) * rate;
}

JobTimer::JobTimer(JobRunner& runner)
    : runner_(runner), clock_(runner.clock()), offset_(OffsetOf(runner.clock())) {}

bool JobTimer::Fires(const JobEntry& entry) const {
    return !closed_ && entry.enabled && !entry.Has(JobEntry::kRemoved);
}

void JobTimer::PostAt(JobEntry& entry, TimePoint when) {
    runner_.threads().PostAt(entry, clock_.SteadyNow() + (when - clock_.Now()));
}

void JobTimer::Arm(JobEntry& entry) {
    if (!Fires(entry) || entry.Has(JobEntry::kBusy)) return;
    const JobPolicy& policy = *entry.policy;
    const TimePoint now = clock_.Now();
    Arm(entry, policy.cron ? policy.cron->NextInDialect(now)
                           : std::optional(now + policy.spec.initial_delay));
}

void JobTimer::Disarm(JobEntry& entry) {
    runner_.threads().Withdraw(entry);
    entry.nominal = kNoTime;
}

void JobTimer::Trigger(JobEntry& entry, Parameters parameters) {
    const TimePoint now = clock_.Now();
    if (!entry.Occupy()) {
        runner_.Skip(entry, now, 1, "running");
        return;
    }
    Execution& execution = runner_.Take();
    execution.entry = &entry;
    execution.owner = this;
    execution.fire = now;
    execution.scheduled = false;
    execution.attempt = 1;
    execution.timeout = entry.policy->spec.timeout;
    execution.parameters = std::move(parameters);
    runner_.Post(execution);
}

void JobTimer::Fire(WorkItem& item) {
    auto& entry = static_cast<JobEntry&>(item);
    static_cast<JobTimer*>(entry.owner)->FireNow(entry);
}

void JobTimer::FireNow(JobEntry& entry) {
    if (entry.Has(JobEntry::kRetrying)) return Retry(entry);
    if (!Fires(entry) || entry.nominal == kNoTime) return;
    const TimePoint now = clock_.Now();
    if (PointOf(entry.nominal) - now > kEarliest) return PostAt(entry, PointOf(entry.nominal));
    if (!entry.Occupy(JobEntry::kDue)) return;  // the end of the run accounts for it
    const TimePoint nominal = PointOf(entry.nominal);
    if (now - nominal <= kGrace) return Run(entry, nominal);
    if (const auto fire = AfterMisfire(entry, nominal, now)) return Run(entry, *fire);
    entry.Free();
    Arm(entry, NextFire(*entry.policy, nominal, now));
}

std::optional<TimePoint> JobTimer::AfterMisfire(JobEntry& entry, TimePoint nominal, TimePoint now) {
    const JobPolicy& policy = *entry.policy;
    const std::vector<TimePoint> fires = CaughtUp(policy, nominal, now);
    const std::int64_t all = 1 + CountFires(policy, nominal, now);
    const std::int64_t missed = all - static_cast<std::int64_t>(fires.size());
    if (missed > 0) runner_.Miss(entry, nominal, missed);
    if (fires.empty()) return std::nullopt;
    if (fires.size() > 1) {
        const MutexLock lock(mutex_);
        pending_[&entry].assign(fires.begin() + 1, fires.end());
        pending_count_ = pending_.size();
    }
    // Later fires are counted from the last one that is made up for.
    entry.nominal = fires.back().time_since_epoch().count();
    return fires.front();
}

void JobTimer::Run(JobEntry& entry, TimePoint fire) {
    Execution& execution = runner_.Take();
    execution.entry = &entry;
    execution.owner = this;
    execution.fire = fire;
    execution.scheduled = true;
    // Times of day that come again were fired before; a fixed rate goes on.
    execution.set_back = entry.policy->cron ? Duration() : set_back_.load();
    execution.attempt = entry.failures + 1;
    execution.timeout = entry.policy->spec.timeout;
    runner_.Start(execution);
}

void JobTimer::Retry(JobEntry& entry) {
    std::optional<TimePoint> fire;
    {
        const MutexLock lock(mutex_);
        if (const auto found = retried_.find(&entry); found != retried_.end()) {
            fire = found->second;
            retried_.erase(found);
        }
    }
    entry.flags.fetch_and(static_cast<std::uint8_t>(~JobEntry::kRetrying));
    if (fire && Fires(entry)) return Run(entry, *fire);
    entry.failures = 0;
    entry.Free();
}

std::optional<TimePoint> JobTimer::TakePending(const JobEntry& entry) {
    if (pending_count_ == 0) return std::nullopt;
    const MutexLock lock(mutex_);
    const auto found = pending_.find(&entry);
    if (found == pending_.end()) return std::nullopt;
    const TimePoint fire = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) pending_.erase(found);
    pending_count_ = pending_.size();
    return fire;
}

void JobTimer::Ended(Execution& execution, RunOutcome outcome) {
    JobEntry& entry = *execution.entry;
    const bool failed = outcome.kind == RunOutcome::Kind::kFailed;
    if (failed && outcome.cancelled != CancelReason::kShutdown && TryAgain(entry, execution.fire)) {
        return;
    }
    if (outcome.kind != RunOutcome::Kind::kSkipped) entry.run_count.Add(1);
    if (failed) entry.fail_count.Add(1);
    entry.failures = 0;
    if (!Fires(entry)) {
        Forget(entry);
        entry.nominal = kNoTime;
        entry.Free();
        return;
    }
    if (const auto pending = TakePending(entry)) return Run(entry, *pending);
    const bool was_due = (entry.Free() & JobEntry::kDue) != 0;
    if (!execution.scheduled && !was_due) return;  // its timer is still armed
    if (entry.nominal != kNoTime) ArmAfterRun(entry, execution.scheduled);
}

// Has a failed run tried again, as the job says. Returns false if it is over.
bool JobTimer::TryAgain(JobEntry& entry, TimePoint fire) {
    const ksana::Retry& retry = entry.policy->spec.retry;
    if (retry.max_retries == 0 || !Fires(entry)) return false;
    const model::RetryPolicy policy{.strategy = retry.exponential
                                                    ? model::RetryStrategy::kExponential
                                                    : model::RetryStrategy::kFixed,
                                    .max_retries = retry.max_retries,
                                    .interval = retry.interval,
                                    .sequence = {},
                                    .max_interval = retry.max_interval};
    ++entry.failures;
    const auto delay = model::RetryDelay(policy, entry.failures, {}, entry.id);
    if (!delay) return false;
    {
        const MutexLock lock(mutex_);
        retried_[&entry] = fire;
    }
    // The timer becomes that of the retry, also if it was armed for the next fire, as it is during
    // a triggered run; the end of the run sees to that fire.
    entry.flags.fetch_or(JobEntry::kRetrying | JobEntry::kDue);
    runner_.threads().PostAt(entry, clock_.SteadyNow() + *delay);
    return true;
}

// Arms the first fire after now. `ran`: the fire that was armed last is the one that ran; otherwise
// it was due during the run of a trigger, or is still ahead. Fires during the run are skipped.
void JobTimer::ArmAfterRun(JobEntry& entry, bool ran) {
    const JobPolicy& policy = *entry.policy;
    const TimePoint now = clock_.Now();
    const TimePoint armed = PointOf(entry.nominal);
    std::optional<TimePoint> next = armed;
    if (ran) next = NextFire(policy, armed, armed);
    if (next && *next <= now) {
        runner_.Skip(entry, *next, 1 + CountFires(policy, *next, now), "running");
        next = NextFire(policy, *next, now);
    }
    Arm(entry, next);
}

void JobTimer::Arm(JobEntry& entry, std::optional<TimePoint> next) {
    entry.nominal = next ? next->time_since_epoch().count() : kNoTime;
    if (!next) return;
    runner_.threads().PostAtAfterwards(entry, clock_.SteadyNow() + (*next - clock_.Now()));
}

std::optional<Duration> JobTimer::TakeJump() {
    const std::int64_t offset = OffsetOf(clock_);
    const Duration jump(offset - offset_.exchange(offset));
    if (jump < kLeastJump && jump > -kLeastJump) return std::nullopt;
    set_back_ = std::max(set_back_.load() - jump, Duration::zero());
    Log(LogLevel::kWarn, "the wall clock was set; jobs are armed anew",
        {{"seconds", std::chrono::duration<double>(jump).count()}});
    return jump;
}

// A fixed rate goes on as if nothing had happened. Times of day that the clock has jumped over are
// late now; those that come again are fired again.
void JobTimer::AfterJump(JobEntry& entry, Duration jump) {
    const std::int64_t nominal = entry.nominal;
    if (nominal == kNoTime || entry.Has(JobEntry::kBusy)) return;
    std::optional<TimePoint> next = PointOf(nominal);
    if (!entry.policy->cron) {
        *next += jump;
    } else if (jump < Duration::zero()) {
        next = entry.policy->cron->NextInDialect(clock_.Now());
    }
    Arm(entry, next);
}

void JobTimer::Forget(const JobEntry& entry) {
    const MutexLock lock(mutex_);
    pending_.erase(&entry);
    retried_.erase(&entry);
    pending_count_ = pending_.size();
}

}  // namespace ksana::sdk

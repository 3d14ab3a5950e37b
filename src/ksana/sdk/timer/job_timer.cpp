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

TimePoint TimeOf(std::int64_t microseconds) { return TimePoint(Duration(microseconds)); }

// The stamp of a fire. Each process has a grid of its own for a fixed rate, so there it is the
// start of the period that the fire falls into: one process runs the job in each period. It is a
// time, so that a changed rate does not make it smaller.
std::int64_t StampOf(TimePoint fire, Duration rate) {
    const std::int64_t time = fire.time_since_epoch().count();
    if (rate <= Duration::zero()) return time;
    const std::int64_t rest = time % rate.count();
    return time - (rest < 0 ? rest + rate.count() : rest);
}

std::int64_t OffsetOf(const Clock& clock) {
    const auto steady = std::chrono::floor<Duration>(clock.SteadyNow().time_since_epoch());
    return (clock.Now().time_since_epoch() - steady).count();
}

// The fires of [nominal, now] that run after the misfire policy. The latest runs in any case if it
// is within the grace.
std::vector<TimePoint> CaughtUp(const JobEntry& entry, TimePoint nominal, TimePoint now) {
    const JobPolicy& policy = *entry.policy;
    const std::int64_t count = 1 + CountFires(entry, nominal, now);
    const bool all = policy.spec.misfire == Misfire::kRunAll;
    const std::int64_t wanted = all ? std::min<std::int64_t>(count, kMostCaughtUp) : 1;
    std::vector<TimePoint> fires;
    if (!policy.cron) {
        for (std::int64_t n = count - wanted; n < count; ++n) {
            fires.push_back(nominal + n * entry.fixed_rate);
        }
    } else {
        std::optional<TimePoint> fire = policy.cron->Previous(now + Duration(1));
        while (fire && *fire >= nominal && static_cast<std::int64_t>(fires.size()) < wanted) {
            fires.push_back(*fire);
            fire = policy.cron->Previous(*fire);
        }
        std::ranges::reverse(fires);
    }
    const bool late = fires.empty() || now - fires.back() > kGrace;
    if (policy.spec.misfire == Misfire::kSkip && late) fires.clear();
    return fires;
}

}  // namespace

std::int64_t CountFires(const JobEntry& entry, TimePoint last, TimePoint until) {
    if (entry.policy->cron) return entry.policy->cron->Count(last, until);
    return until <= last ? 0 : (until - last) / entry.fixed_rate;
}

std::optional<TimePoint> NextFire(const JobEntry& entry, TimePoint last, TimePoint after) {
    if (entry.policy->cron) return entry.policy->cron->Next(after);
    const TimePoint next = last + entry.fixed_rate;
    if (next > after) return next;
    return next + ((after - next) / entry.fixed_rate + 1) * entry.fixed_rate;
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
    if (!Fires(entry) || entry.MarkIfBusy(JobEntry::kArmLater)) return;
    const JobPolicy& policy = *entry.policy;
    const TimePoint now = clock_.Now();
    Arm(entry, policy.cron ? policy.cron->Next(now) : std::optional(now + entry.initial_delay));
}

void JobTimer::Disarm(JobEntry& entry) {
    runner_.threads().Withdraw(entry);
    entry.nominal = kNoTime;
}

bool JobTimer::TryTrigger(JobEntry& entry, Parameters parameters) {
    if (!entry.Occupy()) return false;
    Execution& execution = Prepare(entry, {.fire = clock_.Now(),
                                           .scheduled = false,
                                           .has_fire = false,
                                           .parameters = std::move(parameters)});
    runner_.Post(execution);
    return true;
}

void JobTimer::Fire(WorkItem& item) {
    auto& entry = static_cast<JobEntry&>(item);
    static_cast<JobTimer*>(entry.owner)->FireNow(entry);
}

void JobTimer::FireNow(JobEntry& entry) {
    if (entry.Has(JobEntry::kRetrying)) return Retry(entry);
    const std::int64_t armed = entry.nominal;
    if (!Fires(entry) || armed == kNoTime) return;
    const TimePoint now = clock_.Now();
    const TimePoint nominal = TimeOf(armed);
    if (nominal - now > kEarliest) return PostAt(entry, nominal);
    if (!entry.Occupy(JobEntry::kDue)) return;  // the end of the run accounts for it
    // Another thread may have switched the job off meanwhile, or armed it anew.
    if (!Fires(entry) || entry.nominal != armed) return FreeUnfired(entry);
    if (now - nominal <= kGrace) return Run(entry, nominal);
    if (const auto fire = AfterMisfire(entry, nominal, now)) return Run(entry, *fire);
    entry.Free();
    Arm(entry, NextFire(entry, nominal, now));
}

// Gives the job back without a run, and does what another thread has left to the one that had it.
void JobTimer::FreeUnfired(JobEntry& entry) {
    const std::uint8_t flags = entry.Free();
    const std::int64_t armed = entry.nominal;
    if ((flags & JobEntry::kArmLater) != 0) return Arm(entry);
    if ((flags & JobEntry::kDue) != 0 && armed != kNoTime) {
        ArmAfterRun(entry, TimeOf(armed), false);
    }
}

std::optional<TimePoint> JobTimer::AfterMisfire(JobEntry& entry, TimePoint nominal, TimePoint now) {
    const std::vector<TimePoint> fires = CaughtUp(entry, nominal, now);
    const std::int64_t all = 1 + CountFires(entry, nominal, now);
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

Execution& JobTimer::Prepare(JobEntry& entry, Attempt attempt) {
    Execution& execution = runner_.Take();
    execution.entry = &entry;
    execution.owner = this;
    execution.fire = attempt.fire;
    execution.scheduled = attempt.scheduled;
    execution.has_fire = attempt.has_fire;
    execution.attempt = entry.failures + 1;
    execution.timeout = entry.policy->spec.timeout;
    execution.parameters = std::move(attempt.parameters);
    if (attempt.scheduled && !attempt.has_fire) {
        // Times of day that come again after the clock was set back were fired before; a fixed rate
        // goes on.
        const Duration shift = entry.policy->cron ? Duration() : set_back_.load();
        execution.stamp = StampOf(attempt.fire + shift, entry.fixed_rate);
    }
    return execution;
}

void JobTimer::Run(JobEntry& entry, TimePoint fire) {
    runner_.Start(
        Prepare(entry, {.fire = fire, .scheduled = true, .has_fire = false, .parameters = {}}));
}

void JobTimer::Retry(JobEntry& entry) {
    std::optional<Attempt> attempt;
    {
        const MutexLock lock(mutex_);
        if (auto found = retried_.extract(&entry)) attempt = std::move(found.mapped());
    }
    entry.flags.fetch_and(static_cast<std::uint8_t>(~JobEntry::kRetrying));
    if (attempt && Fires(entry)) return runner_.Start(Prepare(entry, *std::move(attempt)));
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
    if (failed && outcome.cancelled != CancelReason::kShutdown && TryAgain(entry, execution)) {
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
    const std::uint8_t flags = entry.Free();
    if ((flags & JobEntry::kArmLater) != 0) return Arm(entry);
    const bool was_due = (flags & JobEntry::kDue) != 0;
    if (!execution.scheduled && !was_due) return;  // its timer is still armed
    // Read once: another thread may switch the job off at any time.
    const std::int64_t armed = entry.nominal;
    if (armed != kNoTime) ArmAfterRun(entry, TimeOf(armed), execution.scheduled);
}

// Has a failed run tried again, as the job says. Returns false if it is over.
bool JobTimer::TryAgain(JobEntry& entry, Execution& execution) {
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
        retried_[&entry] = {.fire = execution.fire,
                            .scheduled = execution.scheduled,
                            .has_fire = execution.has_fire,
                            .parameters = std::move(execution.parameters)};
    }
    // The timer becomes that of the retry, also if it was armed for the next fire, as it is during
    // a triggered run; the end of the run sees to that fire.
    entry.flags.fetch_or(JobEntry::kRetrying | JobEntry::kDue);
    runner_.threads().PostAt(entry, clock_.SteadyNow() + *delay);
    return true;
}

// Arms the first fire after now. `ran`: the fire that was armed is the one that ran; otherwise
// it was due during the run of a trigger, or is still ahead. Fires during the run are skipped.
void JobTimer::ArmAfterRun(JobEntry& entry, TimePoint armed, bool ran) {
    const JobPolicy& policy = *entry.policy;
    const TimePoint now = clock_.Now();
    std::optional<TimePoint> next = armed;
    // A clock that was set back meanwhile lets times of day come again.
    if (ran) next = NextFire(entry, armed, policy.cron ? std::min(armed, now) : armed);
    if (next && *next <= now) {
        runner_.Skip(entry, *next, 1 + CountFires(entry, *next, now), "running");
        next = NextFire(entry, *next, now);
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
    const std::int64_t armed = entry.nominal;
    if (armed == kNoTime) return;
    const bool busy = entry.Has(JobEntry::kBusy);
    std::optional<TimePoint> next = TimeOf(armed);
    if (!entry.policy->cron) {
        *next += jump;
    } else if (jump < Duration::zero() && !busy) {
        next = entry.policy->cron->Next(clock_.Now());
    }
    if (!busy) return Arm(entry, next);
    entry.nominal = next->time_since_epoch().count();  // the end of the run arms the job
}

void JobTimer::Forget(const JobEntry& entry) {
    const MutexLock lock(mutex_);
    pending_.erase(&entry);
    retried_.erase(&entry);
    pending_count_ = pending_.size();
}

}  // namespace ksana::sdk

#include "ksana/engine/plan/schedule_cache.hpp"

namespace ksana::engine {
namespace {

// The capacity, at a few hundred bytes per entry. A server with more jobs compiles some schedules
// again, which takes microseconds.
constexpr std::size_t kMaxEntries = 100'000;

}  // namespace

Result<schedule::Schedule> ScheduleCache::Of(const model::Job& job) {
    // A `once` schedule compiles faster than the lookup, and is not needed again.
    if (job.schedule.kind == schedule::ScheduleKind::kOnce) return Compiled(job);
    std::uint64_t age = 0;
    {
        const MutexLock lock(mutex_);
        age = age_;
        const auto found = entries_.find(job.id);
        if (found != entries_.end() && found->second.version == job.state.version &&
            found->second.created_at == job.state.created_at) {
            return found->second.schedule;
        }
    }
    KSANA_TRY(schedule::Schedule compiled, Compiled(job));
    const MutexLock lock(mutex_);
    // The calendars changed during compilation: the result is right for this caller, but must not
    // be cached.
    if (age != age_) return compiled;
    if (entries_.size() >= kMaxEntries) entries_.clear();
    entries_.insert_or_assign(job.id, Entry{job.state.version, job.state.created_at, compiled});
    return compiled;
}

Result<schedule::Schedule> ScheduleCache::Compiled(const model::Job& job) const {
    return schedule::Schedule::Compile(
        job.schedule,
        {.zones = zones_, .created_at = job.state.created_at, .find_calendar = find_calendar_});
}

void ScheduleCache::Forget() {
    const MutexLock lock(mutex_);
    entries_.clear();
    ++age_;
}

}  // namespace ksana::engine

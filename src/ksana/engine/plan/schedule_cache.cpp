#include "ksana/engine/plan/schedule_cache.hpp"

namespace ksana::engine {
namespace {

// Some hundred bytes each. A server with more jobs than this compiles some of them again, which
// takes microseconds.
constexpr std::size_t kMaxEntries = 100'000;

}  // namespace

Result<schedule::Schedule> ScheduleCache::Of(const model::Job& job) {
    // Compiled faster than found, and not asked for again.
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
    // Compiled with what has changed meanwhile: right for whoever asked, not to be kept.
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

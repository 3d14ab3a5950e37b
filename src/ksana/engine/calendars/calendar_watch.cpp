#include "ksana/engine/calendars/calendar_watch.hpp"

namespace ksana::engine {

Result<void> CalendarWatch::Refresh() {
    KSANA_TRY(const std::vector<std::string> changed, book_.Refresh());
    if (changed.empty()) return {};
    schedules_.Forget();
    {
        const MutexLock lock(mutex_);
        changed_.insert(changed.begin(), changed.end());
        ++changes_;
    }
    if (options_.wake) options_.wake();
    return {};
}

Result<Step> CalendarWatch::RunOnce() {
    Step step;
    KSANA_TRY_VOID(RefreshIfNeeded(step));
    KSANA_TRY_VOID(LookAtJobs(step));
    return step;
}

// Most commits that touch settings concern no calendar, so readings are rate-limited.
Result<void> CalendarWatch::RefreshIfNeeded(Step& step) {
    const SteadyPoint now = clock_.SteadyNow();
    const Duration rest = hinted_ ? options_.least_rest : options_.most_rest;
    if (read_at_ && now - *read_at_ < rest) {
        step.NotAfter(std::chrono::ceil<Duration>(*read_at_ + rest - now));
        return {};
    }
    hinted_ = false;
    if (auto read = Refresh(); !read) {
        hinted_ = true;
        return read;
    }
    read_at_ = now;
    step.NotAfter(options_.most_rest);
    return {};
}

Result<void> CalendarWatch::LookAtJobs(Step& step) {
    {
        const MutexLock lock(mutex_);
        if (changed_.empty()) return {};
        if (looking_since_ != changes_) {  // more calendars changed: start over, for all of them
            looking_for_ = changed_;
            looking_since_ = changes_;
            cursor_.clear();
        }
    }
    KSANA_TRY(const CalendarUsers users, FindCalendarUsers(store_, looking_for_, cursor_));
    KSANA_TRY_VOID(PlanCalendarUsers(store_, plans_, users.jobs));
    cursor_ = users.next;
    if (!cursor_.empty()) {
        step.NotAfter(options_.pause);
        return {};
    }
    const MutexLock lock(mutex_);
    if (looking_since_ == changes_) {
        changed_.clear();
    } else {
        step.again = true;
    }
    return {};
}

}  // namespace ksana::engine

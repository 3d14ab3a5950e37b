#include "ksana/worker/held_tasks.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::worker {
namespace {

using model::Event;
using model::EventKind;

// News wait so long for a renewal to go with.
constexpr Duration kNewsWait = std::chrono::milliseconds(200);
// The executor of calls enforces the timeout itself, and says more about it.
constexpr Duration kCallSlack = std::chrono::milliseconds(500);
constexpr std::size_t kMostBeats = 500;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // of one call

SteadyPoint After(SteadyPoint now, Duration time) {
    constexpr Duration kLong = std::chrono::hours(24 * 400);
    return now + std::min(time, kLong);
}

// The executor says that it stopped; the worker knows why it was asked to.
Event AsStopped(Event event, StopReason reason) {
    if (event.kind != EventKind::kCancelled) return event;
    switch (reason) {
        case StopReason::kTimeout:
            event.kind = EventKind::kTimeout;
            if (event.error.empty()) event.error = "stopped after its time was over";
            break;
        case StopReason::kShutdown:
            event.kind = EventKind::kShutdown;
            break;
        default:  // the server knows that a user has cancelled it
            if (event.error.empty()) event.error = "cancelled";
            break;
    }
    return event;
}

Event GivenBack() {
    Event event;
    event.kind = EventKind::kShutdown;
    return event;
}

Event NoExecutor(const model::Run& run) {
    Event event;
    event.kind = EventKind::kRetryableFailure;
    event.error = "this worker has no handler for the type \"" + run.type + "\"";
    return event;
}

}  // namespace

HeldTasks::Task& HeldTasks::Add(Claimed claimed, engine::Executor* executor, SteadyPoint now) {
    const std::string exec_id = claimed.attempt->run.status.exec_id;
    Task& task = tasks_[exec_id];
    const model::ActionKind kind = claimed.attempt->run.kind;
    task.began = now;
    task.expires = After(now, claimed.lease);
    task.overdue_at = After(
        now, claimed.deadline + (kind == model::ActionKind::kHttp ? kCallSlack : Duration::zero()));
    task.renew_at = After(now, options_.lease / 3);
    task.executor = executor;
    task.attempt = std::move(claimed.attempt);
    return task;
}

void HeldTasks::Start(Claimed claimed, engine::Executor* executor, SteadyPoint asked_at) {
    const engine::AttemptPointer attempt = claimed.attempt;
    const std::string exec_id = attempt->run.status.exec_id;
    const SteadyPoint now = clock_.SteadyNow();
    if (executor != nullptr && executor->tells_news()) {
        attempt->tell = [held = weak_from_this(), exec_id](engine::AttemptNews news) {
            if (const auto tasks = held.lock()) tasks->Tell(exec_id, std::move(news));
        };
    }
    {
        const MutexLock lock(mutex_);
        if (tasks_.contains(exec_id)) return;  // the same answer twice
        Task& task = Add(std::move(claimed), executor, now);
        task.executing = true;
        // The lease may have begun when the claim was sent, if this process was stopped meanwhile.
        task.renew_at = std::max(now, std::min(task.renew_at, asked_at + options_.lease * 9 / 10));
    }
    if (executor == nullptr) return End(exec_id, NoExecutor(attempt->run));
    executor->Start(attempt, [held = shared_from_this(), exec_id](Event event) {
        held->End(exec_id, std::move(event));
    });
}

void HeldTasks::GiveBack(Claimed claimed) {
    const MutexLock lock(mutex_);
    Task& task = Add(std::move(claimed), nullptr, clock_.SteadyNow());
    task.renew_at = kNever;
    task.ended = true;
    task.event = GivenBack();
}

std::size_t HeldTasks::running() const {
    const MutexLock lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(tasks_, [](const auto& one) { return one.second.executing; }));
}

std::size_t HeldTasks::pending() const {
    const MutexLock lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(tasks_, [](const auto& one) { return one.second.ended; }));
}

std::size_t HeldTasks::Free() const {
    const std::size_t used = running();
    const std::size_t waiting = pending();
    if (used >= options_.slots || waiting > options_.slots) return 0;
    return options_.slots - used;
}

void HeldTasks::Stop(Task& task, StopReason reason, std::vector<Stopping>& out) {
    if (!task.executing || task.stop != StopReason::kNone) return;
    task.stop = reason;
    task.overdue_at = kNever;
    if (task.executor != nullptr) {
        out.push_back({task.executor, task.attempt->run.status.exec_id});
    }
}

void HeldTasks::Lose(Task& task, std::string_view why, std::vector<Stopping>& out) {
    if (task.lost) return;
    Log(LogLevel::kWarn, "an attempt is not this worker's any more",
        {{"run_id", task.attempt->run.id.ToString()},
         {"trace_id", model::TraceIdOf(task.attempt->run)},
         {"span_id", model::AttemptSpanText(task.attempt->run)},
         {"type", task.attempt->run.type},
         {"running", task.executing},
         {"reason", why}});
    task.lost = true;
    task.ended = false;
    task.renew_at = kNever;
    task.expires = kNever;
    Stop(task, StopReason::kLost, out);
}

void HeldTasks::CancelAll(const std::vector<Stopping>& stopping) {
    for (const Stopping& one : stopping) one.executor->Cancel(one.exec_id);
}

void HeldTasks::StopDue(SteadyPoint now) {
    std::vector<Stopping> stopping;
    {
        const MutexLock lock(mutex_);
        for (auto it = tasks_.begin(); it != tasks_.end();) {
            const auto found = it++;
            Task& task = found->second;
            if (task.expires <= now) {
                Lose(task, "its lease was not renewed in time", stopping);
                EraseIfOver(found);
            } else if (task.overdue_at <= now) {
                task.overdue_at = kNever;
                Stop(task, StopReason::kTimeout, stopping);
            }
        }
    }
    CancelAll(stopping);
}

void HeldTasks::StopAll(StopReason reason) {
    std::vector<Stopping> stopping;
    {
        const MutexLock lock(mutex_);
        for (auto& [exec_id, task] : tasks_) Stop(task, reason, stopping);
    }
    CancelAll(stopping);
}

void HeldTasks::ReleaseAll() {
    const MutexLock lock(mutex_);
    for (auto& [exec_id, task] : tasks_) {
        if (task.lost || task.ended) continue;
        Log(LogLevel::kWarn, "an attempt did not stop in time and is given back",
            {{"run_id", task.attempt->run.id.ToString()},
             {"trace_id", model::TraceIdOf(task.attempt->run)},
             {"span_id", model::AttemptSpanText(task.attempt->run)},
             {"type", task.attempt->run.type}});
        task.ended = true;
        task.event = GivenBack();
    }
}

void HeldTasks::LoseAll() {
    std::vector<Stopping> stopping;
    {
        const MutexLock lock(mutex_);
        for (auto it = tasks_.begin(); it != tasks_.end();) {
            const auto found = it++;
            Lose(found->second, "another worker has this one's name", stopping);
            EraseIfOver(found);
        }
    }
    CancelAll(stopping);
}

void HeldTasks::EraseIfOver(Tasks::iterator found) {
    const Task& task = found->second;
    if (!task.executing && !task.ended) tasks_.erase(found);
}

void HeldTasks::Tell(const std::string& exec_id, engine::AttemptNews news) {
    {
        const MutexLock lock(mutex_);
        const auto found = tasks_.find(exec_id);
        if (found == tasks_.end() || found->second.ended || found->second.lost) return;
        Task& task = found->second;
        engine::Append(task.news, std::move(news));
        const SteadyPoint soon = clock_.SteadyNow() + kNewsWait;
        if (task.renew_at <= soon) return;
        task.renew_at = soon;
    }
    options_.wake();
}

void HeldTasks::End(const std::string& exec_id, Event event) {
    engine::AttemptPointer attempt;
    Duration took{};
    {
        const MutexLock lock(mutex_);
        const auto found = tasks_.find(exec_id);
        if (found == tasks_.end() || !found->second.executing) return;
        Task& task = found->second;
        attempt = task.attempt;
        took = std::chrono::floor<Duration>(clock_.SteadyNow() - task.began);
        event = AsStopped(std::move(event), task.stop);
        task.executing = false;
        task.overdue_at = kNever;
        engine::Append(task.news, {.log = std::move(event.log)});
        if (!task.lost && !task.ended) {
            task.ended = true;
            task.event = event;
        }
        EraseIfOver(found);
    }
    if (options_.ended) options_.ended(attempt->run, event, took);
    options_.wake();
}

std::vector<HeldTasks::Report> HeldTasks::TakeBeats(SteadyPoint now) {
    std::vector<Report> beats;
    const MutexLock lock(mutex_);
    for (auto& [exec_id, task] : tasks_) {
        if (task.beating || task.renew_at > now) continue;
        if (beats.size() == kMostBeats) break;
        Report beat{.exec_id = exec_id, .texts = {}, .news = std::exchange(task.news, {})};
        // The report of an end carries the rest of the log.
        if (task.ended) task.news = std::exchange(beat.news, {});
        beat.texts = BeatReports(task.attempt->run, options_.lease, beat.news);
        task.beating = true;
        task.renew_at = After(now, options_.lease / 3);
        beats.push_back(std::move(beat));
    }
    return beats;
}

void HeldTasks::NoteBeat(const Report& beat, const Verdict& verdict, SteadyPoint sent_at) {
    std::vector<Stopping> stopping;
    {
        const MutexLock lock(mutex_);
        const auto found = tasks_.find(beat.exec_id);
        if (found == tasks_.end()) return;
        Task& task = found->second;
        task.beating = false;
        if (task.lost) return;
        if (verdict.ok) {
            task.expires = After(sent_at, options_.lease);
            if (!task.news.empty() && !task.ended) {
                task.renew_at = std::min(task.renew_at, clock_.SteadyNow() + kNewsWait);
            }
            if (verdict.cancel) Stop(task, StopReason::kCancelled, stopping);
        } else if (!task.ended) {  // else the report may have overtaken the renewal
            Lose(task, verdict.reason, stopping);
            EraseIfOver(found);
        }
    }
    CancelAll(stopping);
}

void HeldTasks::BeatFailed(Report beat, SteadyPoint again_at, bool refused) {
    const MutexLock lock(mutex_);
    const auto found = tasks_.find(beat.exec_id);
    if (found == tasks_.end()) return;
    Task& task = found->second;
    task.beating = false;
    if (task.lost) return;
    task.renew_at = again_at;
    if (refused) return;
    engine::AttemptNews all = std::move(beat.news);
    engine::Append(all, std::exchange(task.news, {}));
    task.news = std::move(all);
}

std::vector<HeldTasks::Report> HeldTasks::TakeEnds(std::size_t most) {
    std::vector<Report> reports;
    std::size_t texts = 0;
    std::size_t bytes = 0;
    const MutexLock lock(mutex_);
    for (auto& [exec_id, task] : tasks_) {
        // After a renewal under way, which has a part of the log.
        if (!task.ended || task.reporting || task.beating) continue;
        Report report{
            .exec_id = exec_id,
            .texts = EndReports(task.attempt->run, task.event, options_.lease, task.news.log)};
        texts += report.texts.size();
        for (const std::string& text : report.texts) bytes += text.size();
        const bool full =
            reports.size() == most || texts > model::kMaxReports || bytes > kMostBytes;
        if (full && !reports.empty()) break;
        task.reporting = true;
        reports.push_back(std::move(report));
    }
    return reports;
}

void HeldTasks::NoteEnd(const Report& report, const Verdict& verdict) {
    const MutexLock lock(mutex_);
    const auto found = tasks_.find(report.exec_id);
    if (found == tasks_.end()) return;
    Task& task = found->second;
    if (!verdict.ok && !task.lost) {
        Log(LogLevel::kWarn, "the report of an attempt is not accepted",
            {{"run_id", task.attempt->run.id.ToString()},
             {"trace_id", model::TraceIdOf(task.attempt->run)},
             {"span_id", model::AttemptSpanText(task.attempt->run)},
             {"reason", verdict.reason}});
    }
    task.ended = false;
    task.reporting = false;
    task.lost = true;  // an executor that still runs it has nothing more to say
    task.renew_at = kNever;
    task.expires = kNever;
    EraseIfOver(found);
}

void HeldTasks::EndFailed(const Report& report) {
    const MutexLock lock(mutex_);
    const auto found = tasks_.find(report.exec_id);
    if (found != tasks_.end()) found->second.reporting = false;
}

void HeldTasks::EndRefused(const Report& report, const std::string& why) {
    const MutexLock lock(mutex_);
    const auto found = tasks_.find(report.exec_id);
    if (found == tasks_.end()) return;
    Task& task = found->second;
    task.reporting = false;
    Log(LogLevel::kError, "the server refuses a report",
        {{"run_id", task.attempt->run.id.ToString()},
         {"trace_id", model::TraceIdOf(task.attempt->run)},
         {"span_id", model::AttemptSpanText(task.attempt->run)},
         {"error", why}});
    if (task.event.kind == EventKind::kSuccess) {
        task.event = {};
        task.event.kind = EventKind::kPermanentFailure;
        task.event.error = "ResultRefused: " + why;
        task.news = {};
        return;
    }
    task.ended = false;
    task.lost = true;
    task.renew_at = kNever;
    task.expires = kNever;
    EraseIfOver(found);
}

std::optional<SteadyPoint> HeldTasks::NextTime() const {
    const MutexLock lock(mutex_);
    SteadyPoint next = kNever;
    for (const auto& [exec_id, task] : tasks_) {
        next = std::min({next, task.expires, task.overdue_at});
        if (!task.beating) next = std::min(next, task.renew_at);
    }
    if (next == kNever) return std::nullopt;
    return next;
}

}  // namespace ksana::worker

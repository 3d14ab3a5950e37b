#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ksana/engine/alerts/alert_scan.hpp"
#include "ksana/engine/alerts/alert_scanner.hpp"

// The observations of unfinished runs: running, waiting and held.

namespace ksana::engine {
namespace {

using model::AlertKind;
using model::AlertRule;
using model::AttemptOutcome;
using model::Run;
using model::RunState;

constexpr std::size_t kNowPage = 100;
constexpr int kMostNowPages = 5;  // of one list in one scan
// How long a held run counts as news. The scan must find it within this time, however many runs are
// held, and must not report it again after its incident was deleted.
constexpr Duration kHeldNews = std::chrono::minutes(10);
// The fewest runs from which a median is meaningful.
constexpr std::size_t kFewest = 5;
constexpr std::size_t kMedianOf = 21;

// Returns whether the run used up its attempts, as opposed to a run that a user put on hold: a run
// that waits for its next attempt has a ready time after the end of the last one.
bool IsGivenUp(const Run& run) {
    const model::RunStatus& status = run.status;
    const auto outcome = status.outcome;
    const bool failed = outcome == AttemptOutcome::kFailed ||
                        outcome == AttemptOutcome::kTimedOut || outcome == AttemptOutcome::kLost;
    return failed && status.failures > 0 && status.ended_at && status.ready_at <= *status.ended_at;
}

store::RunQuery QueryOf(RunState state, store::RunSort sort, bool descending) {
    store::RunQuery query;
    query.filter.states = model::SetOf(state);
    query.sort = sort;
    query.descending = descending;
    query.limit = kNowPage;
    return query;
}

}  // namespace

// Examines the next part of a possibly long list, and starts over at its end. Runs that stay at the
// front forever (tasks of a type that no agent serves) do not hide the others.
Result<void> AlertScanner::Sweep(Scan& scan, store::RunQuery query, std::string& place,
                                 const std::function<Result<void>(const Run&)>& judge) {
    query.cursor = std::exchange(place, "");
    for (int pages = 0; pages < kMostNowPages; ++pages) {
        KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
        KSANA_TRY_VOID(FetchJobs(scan, page.items));
        for (const Run& run : page.items) {
            if (run.trigger != model::RunTrigger::kCallback) KSANA_TRY_VOID(judge(run));
        }
        query.cursor = page.next;
        if (page.next.empty()) return {};
    }
    place = query.cursor;
    return {};
}

// Finds runs that are in flight for too long. The observation has the time at which the limit was
// exceeded, so that it counts once.
Result<void> AlertScanner::LookAtRunning(Scan& scan) {
    const auto judge = [&](const Run& run) -> Result<void> {
        if (!run.status.started_at) return {};
        for (const AlertRule* rule : scan.rules) {
            if (rule->on != AlertKind::kLong) continue;
            if (!model::Concerns(rule->scope, run, scan.JobOf(run))) continue;
            KSANA_TRY(const auto most, LongestOf(scan, *rule, run));
            if (!most || scan.now - *run.status.started_at <= *most) continue;
            scan.Bad(*rule, run, *run.status.started_at + *most,
                     fmt::format("runs longer than {}", Rounded(*most)));
        }
        return {};
    };
    return Sweep(scan, QueryOf(RunState::kRunning, store::RunSort::kId, false), running_place_,
                 judge);
}

// Finds runs that are ready and have not started.
Result<void> AlertScanner::LookAtWaiting(Scan& scan) {
    const auto judge = [&](const Run& run) -> Result<void> {
        if (run.status.attempt > 0) return {};
        const TimePoint due = run.nominal_at.value_or(run.status.ready_at);
        for (const AlertRule* rule : scan.rules) {
            if (rule->on != AlertKind::kLate || scan.now - due <= *rule->longer_than) continue;
            if (!model::Concerns(rule->scope, run, scan.JobOf(run))) continue;
            scan.Bad(*rule, run, due + *rule->longer_than,
                     fmt::format("has not started {} after its time", Rounded(*rule->longer_than)));
        }
        return {};
    };
    return Sweep(scan, QueryOf(RunState::kQueued, store::RunSort::kReady, false), waiting_place_,
                 judge);
}

// Finds held runs, which have not finished and may never finish. Examines those with the latest
// ready time, and in every scan another part of the rest.
Result<void> AlertScanner::LookAtHeld(Scan& scan) {
    KSANA_TRY(const store::Page<Run> latest,
              store_.runs().List(QueryOf(RunState::kHeld, store::RunSort::kReady, true)));
    KSANA_TRY_VOID(JudgeHeld(scan, latest.items));
    if (latest.next.empty()) {
        held_place_.clear();
        return {};
    }
    store::RunQuery query = QueryOf(RunState::kHeld, store::RunSort::kId, false);
    query.cursor = held_place_;
    KSANA_TRY(const store::Page<Run> some, store_.runs().List(query));
    held_place_ = some.next;
    return JudgeHeld(scan, some.items);
}

Result<void> AlertScanner::JudgeHeld(Scan& scan, const std::vector<Run>& runs) {
    KSANA_TRY_VOID(FetchJobs(scan, runs));
    for (const Run& run : runs) {
        if (run.trigger == model::RunTrigger::kCallback || !IsGivenUp(run)) continue;
        const TimePoint at = *run.status.ended_at;
        if (at < scan.from - kHeldNews) continue;
        for (const AlertRule* rule : scan.rules) {
            if (rule->on != AlertKind::kFailure || at < rule->created_at) continue;
            if (!model::Concerns(rule->scope, run, scan.JobOf(run))) continue;
            scan.Bad(*rule, run, at, fmt::format("held: {}", run.status.last_error));
        }
    }
    return {};
}

// Returns whether a run of the subject is held. If more runs are held than can be read, assumes
// that one is.
Result<bool> AlertScanner::IsHeld(Scan& scan, const std::string& subject) {
    if (!scan.held) {
        scan.held.emplace();
        store::RunQuery query = QueryOf(RunState::kHeld, store::RunSort::kId, true);
        for (int pages = 0; pages < kMostNowPages; ++pages) {
            KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
            for (const Run& run : page.items) {
                if (run.trigger == model::RunTrigger::kCallback || !IsGivenUp(run)) continue;
                scan.held->subjects.insert(SubjectOf(run));
            }
            query.cursor = page.next;
            if (page.next.empty()) break;
        }
        scan.held->all = query.cursor.empty();
    }
    return !scan.held->all || scan.held->subjects.contains(subject);
}

Result<std::optional<Duration>> AlertScanner::LongestOf(Scan& scan, const AlertRule& rule,
                                                        const Run& run) {
    std::optional<Duration> most = rule.longer_than;
    if (!rule.factor || run.job_id.empty()) return most;
    KSANA_TRY(const auto median, MedianOf(scan, run));
    if (!median) return most;
    const auto longest =
        std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::micro>(
            static_cast<double>(median->count()) * *rule.factor));
    return std::optional(most ? std::min(*most, longest) : longest);
}

Result<std::optional<Duration>> AlertScanner::MedianOf(Scan& scan, const Run& run) {
    const auto known = scan.medians.find(run.job_id);
    if (known != scan.medians.end()) return known->second;
    store::RunQuery query;
    query.filter.job_id = run.job_id;
    query.filter.states = model::SetOf(RunState::kSucceeded);
    query.sort = store::RunSort::kFinished;
    query.limit = kMedianOf;
    KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
    std::vector<Duration> took;
    for (const Run& one : page.items) {
        if (const auto duration = TookOf(one); duration && one.id != run.id) {
            took.push_back(*duration);
        }
    }
    std::optional<Duration> median;
    if (took.size() >= kFewest) {
        const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
        std::nth_element(took.begin(), middle, took.end());
        median = *middle;
    }
    scan.medians[run.job_id] = median;
    return median;
}

}  // namespace ksana::engine

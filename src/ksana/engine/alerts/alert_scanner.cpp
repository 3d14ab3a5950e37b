#include "ksana/engine/alerts/alert_scanner.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/time/time_text.hpp"
#include "ksana/engine/alerts/alert_scan.hpp"
#include "ksana/store/page.hpp"

namespace ksana::engine {
namespace {

using model::AlertKind;
using model::AlertRule;
using model::Run;
using model::RunState;

constexpr std::size_t kPage = 100;  // of whole runs, whose payload and result may be large
constexpr int kMostPages = 50;      // in one scan
// A slow commit becomes visible later than its timestamp. Every kLookBackEvery, runs that ended
// within the last kLookBack before the cursor are examined again.
constexpr Duration kLookBack = std::chrono::seconds(30);
constexpr Duration kLookBackEvery = std::chrono::seconds(10);
constexpr int kMostBackPages = 5;

constexpr auto kFinalStates =
    static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
constexpr auto kFailedStates = static_cast<model::RunStates>(model::SetOf(RunState::kFailed) |
                                                             model::SetOf(RunState::kTimedOut));

// Returns how late the first attempt started; none for later attempts, which have other ready
// times.
std::optional<Duration> StartLateness(const Run& run) {
    if (run.status.attempt != 1 || !run.status.started_at) return std::nullopt;
    return *run.status.started_at - run.nominal_at.value_or(run.status.ready_at);
}

bool HasFailed(const Run& run) { return (kFailedStates & model::SetOf(run.status.state)) != 0; }

}  // namespace

Result<AlertScanner::Found> AlertScanner::Look(const std::vector<const AlertRule*>& rules,
                                               bool recovering, TimePoint now,
                                               codec::AlertCursor& cursor) {
    Scan scan{.rules = rules,
              .now = now,
              .from = cursor.finished_at,
              .back = false,
              .jobs = {},
              .medians = {},
              .held = {},
              .found = {}};
    const bool timed = scan.Has(AlertKind::kLate) || scan.Has(AlertKind::kLong);
    KSANA_TRY_VOID(LookAtEnded(scan, recovering || timed, cursor));
    if (scan.Has(AlertKind::kFailure)) KSANA_TRY_VOID(LookBack(scan, recovering));
    if (scan.Has(AlertKind::kMissed)) KSANA_TRY_VOID(LookAtLedger(scan, cursor));
    if (scan.Has(AlertKind::kFailure)) KSANA_TRY_VOID(LookAtHeld(scan));
    if (scan.Has(AlertKind::kLong)) KSANA_TRY_VOID(LookAtRunning(scan));
    if (scan.Has(AlertKind::kLate)) KSANA_TRY_VOID(LookAtWaiting(scan));
    std::ranges::stable_sort(scan.found.observations, {},
                             [](const RuleObservation& one) { return one.observation.at; });
    return std::move(scan.found);
}

// Examines runs that ended since the cursor. The last moments are examined again by the next scan;
// an observation that was already applied counts once.
Result<void> AlertScanner::LookAtEnded(Scan& scan, bool all_states, codec::AlertCursor& cursor) {
    store::RunQuery query;
    query.filter.states = all_states ? kFinalStates : kFailedStates;
    query.filter.finished_from = cursor.finished_at;
    query.sort = store::RunSort::kFinished;
    query.descending = false;
    query.limit = kPage;
    TimePoint last = cursor.finished_at;
    for (int pages = 0; pages < kMostPages; ++pages) {
        KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
        KSANA_TRY_VOID(FetchJobs(scan, page.items));
        for (const Run& run : page.items) {
            last = std::max(last, run.status.finished_at.value_or(last));
            if (run.trigger != model::RunTrigger::kCallback) KSANA_TRY_VOID(Judge(scan, run));
        }
        query.cursor = page.next;
        if (page.next.empty()) {
            cursor.finished_at = std::max(cursor.finished_at, scan.now - options_.settle);
            return {};
        }
    }
    scan.found.more = true;
    // Advances to the last run read, so that the next scan does not read the same pages, but not
    // beyond what may still become visible.
    const TimePoint settled = std::min(last, scan.now - options_.settle);
    cursor.finished_at = std::max(cursor.finished_at, settled);
    return {};
}

// Examines runs that ended before the cursor: failures, and successes if they may close an
// incident. Each state has its own pages, so that many successes do not displace failures.
Result<void> AlertScanner::LookBack(Scan& scan, bool recovering) {
    const bool lately = looked_back_at_ <= scan.now && scan.now < looked_back_at_ + kLookBackEvery;
    if (lately) return {};
    scan.back = true;
    for (const model::RunStates states : {kFailedStates, model::SetOf(RunState::kSucceeded)}) {
        if (states != kFailedStates && !recovering) continue;
        store::RunQuery query;
        query.filter.states = states;
        query.filter.finished_from = scan.from - kLookBack;
        query.filter.finished_until = scan.from;
        query.sort = store::RunSort::kFinished;
        query.limit = kPage;
        for (int pages = 0; pages < kMostBackPages; ++pages) {
            KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
            KSANA_TRY_VOID(FetchJobs(scan, page.items));
            for (const Run& run : page.items) {
                if (run.trigger != model::RunTrigger::kCallback) KSANA_TRY_VOID(Judge(scan, run));
            }
            query.cursor = page.next;
            if (page.next.empty()) break;
        }
    }
    scan.back = false;
    looked_back_at_ = scan.now;
    return {};
}

Result<void> AlertScanner::Judge(Scan& scan, const Run& run) {
    const TimePoint end = run.status.finished_at.value_or(run.updated_at);
    const bool succeeded = run.status.state == RunState::kSucceeded;
    for (const AlertRule* rule : scan.rules) {
        if (scan.back && rule->on != AlertKind::kFailure) continue;
        if (end < rule->created_at || !model::Concerns(rule->scope, run, scan.JobOf(run))) continue;
        if (rule->on == AlertKind::kFailure) {
            if (HasFailed(run)) {
                scan.Bad(
                    *rule, run, end,
                    fmt::format("{}: {}", model::NameOf(run.status.state), run.status.last_error));
            } else if (succeeded) {
                scan.Good(*rule, run, end);
            } else if (run.status.state == RunState::kResolved) {
                KSANA_TRY(const bool held, IsHeld(scan, SubjectOf(run)));
                if (!held) scan.Good(*rule, run, end);
            }
        } else if (rule->on == AlertKind::kMissed) {
            const bool fired = run.nominal_at && run.status.state != RunState::kMissed;
            if (fired) scan.Good(*rule, run, end);
        } else if (rule->on == AlertKind::kLate) {
            const auto late = StartLateness(run);
            if (!late) continue;
            const TimePoint at = *run.status.started_at;
            if (*late > *rule->longer_than) {
                scan.Bad(*rule, run, at, fmt::format("started {} late", Rounded(*late)));
            } else {
                scan.Good(*rule, run, at);
            }
        } else {
            const auto took = TookOf(run);
            KSANA_TRY(const auto most, LongestOf(scan, *rule, run));
            if (!took || !most) continue;
            if (*took > *most) {
                scan.Bad(*rule, run, end,
                         fmt::format("took {}, more than {}", Rounded(*took), Rounded(*most)));
            } else if (succeeded) {
                scan.Good(*rule, run, end);
            }
        }
    }
    return {};
}

Result<void> AlertScanner::LookAtLedger(Scan& scan, codec::AlertCursor& cursor) {
    store::LedgerParams params{.job_id = {},
                               .from = cursor.since,
                               .until = {},
                               .limit = kPage,
                               .cursor = store::EventsAfter(cursor.ledger_seq)};
    for (int pages = 0; pages < kMostPages; ++pages) {
        KSANA_TRY(const auto page, store_.jobs().Ledger(params));
        std::vector<Run> named;
        for (const model::LedgerEntry& entry : page.items)
            named.emplace_back().job_id = entry.job_id;
        KSANA_TRY_VOID(FetchJobs(scan, named));
        for (const model::LedgerEntry& entry : page.items) {
            if (entry.recorded_at > scan.now - options_.settle) return {};
            cursor.ledger_seq = entry.seq;
            if (entry.range.fate != model::FireFate::kMissed) continue;
            const auto job = scan.jobs.find(entry.job_id);
            if (job == scan.jobs.end() || !job->second) continue;
            for (const AlertRule* rule : scan.rules) {
                const bool concerned = rule->on == AlertKind::kMissed &&
                                       entry.recorded_at >= rule->created_at &&
                                       model::Concerns(rule->scope, *job->second);
                if (!concerned) continue;
                scan.found.observations.push_back(
                    {rule,
                     "job:" + entry.job_id,
                     {true, entry.recorded_at,
                      fmt::format("{} fire{} missed, the last of {}", entry.range.range.count,
                                  entry.range.range.count == 1 ? " was" : "s were",
                                  FormatTime(entry.range.range.last)),
                      std::nullopt}});
            }
        }
        params.cursor = page.next;
        if (page.next.empty()) return {};
    }
    scan.found.more = true;
    return {};
}

Result<void> AlertScanner::FetchJobs(Scan& scan, const std::vector<Run>& runs) {
    std::vector<std::string> ids;
    for (const Run& run : runs) {
        if (run.job_id.empty() || scan.jobs.contains(run.job_id)) continue;
        scan.jobs[run.job_id] = nullptr;
        ids.push_back(run.job_id);
    }
    if (ids.empty()) return {};
    KSANA_TRY(std::vector<model::Job> jobs, store_.jobs().GetMany(ids));
    for (model::Job& job : jobs) {
        std::string id = job.id;
        scan.jobs[id] = std::make_shared<const model::Job>(std::move(job));
    }
    return {};
}

}  // namespace ksana::engine

#include "ksana/engine/alert_signs.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/time_text.hpp"
#include "ksana/engine/alert_pass.hpp"
#include "ksana/store/event_cursor.hpp"

namespace ksana::engine {
namespace {

using model::AlertKind;
using model::AlertRule;
using model::Run;
using model::RunState;

constexpr std::size_t kPage = 100;  // of whole runs, whose payload and result may be large
constexpr int kMostPages = 50;      // in one look
// A commit that took long is stamped with a time that was passed already when it became visible:
// so far, and so often, what has ended is looked at again.
constexpr Duration kLookBack = std::chrono::seconds(30);
constexpr Duration kLookBackEvery = std::chrono::seconds(10);
constexpr int kMostBackPages = 5;

constexpr auto kFinalStates =
    static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
constexpr auto kFailedStates = static_cast<model::RunStates>(model::SetOf(RunState::kFailed) |
                                                             model::SetOf(RunState::kTimedOut));

// When it was to start: later attempts have another time.
std::optional<Duration> LatenessOf(const Run& run) {
    if (run.status.attempt != 1 || !run.status.started_at) return std::nullopt;
    return *run.status.started_at - run.nominal_at.value_or(run.status.ready_at);
}

bool HasFailed(const Run& run) { return (kFailedStates & model::SetOf(run.status.state)) != 0; }

}  // namespace

Result<AlertSigns::Found> AlertSigns::Look(const std::vector<const AlertRule*>& rules,
                                           bool recovering, TimePoint now,
                                           codec::AlertCursor& cursor) {
    Pass pass{.rules = rules,
              .now = now,
              .from = cursor.finished_at,
              .back = false,
              .jobs = {},
              .medians = {},
              .held = {},
              .found = {}};
    const bool timed = pass.Has(AlertKind::kLate) || pass.Has(AlertKind::kLong);
    KSANA_TRY_VOID(LookAtEnded(pass, recovering || timed, cursor));
    if (pass.Has(AlertKind::kFailure)) KSANA_TRY_VOID(LookBack(pass, recovering));
    if (pass.Has(AlertKind::kMissed)) KSANA_TRY_VOID(LookAtLedger(pass, cursor));
    if (pass.Has(AlertKind::kFailure)) KSANA_TRY_VOID(LookAtHeld(pass));
    if (pass.Has(AlertKind::kLong)) KSANA_TRY_VOID(LookAtRunning(pass));
    if (pass.Has(AlertKind::kLate)) KSANA_TRY_VOID(LookAtWaiting(pass));
    std::ranges::stable_sort(pass.found.signs, {},
                             [](const FoundSign& one) { return one.sign.at; });
    return std::move(pass.found);
}

// The last moments are looked at again the next time: signs that were seen do not count twice.
Result<void> AlertSigns::LookAtEnded(Pass& pass, bool all_states, codec::AlertCursor& cursor) {
    store::RunQuery query;
    query.filter.states = all_states ? kFinalStates : kFailedStates;
    query.filter.finished_from = cursor.finished_at;
    query.sort = store::RunSort::kFinished;
    query.descending = false;
    query.limit = kPage;
    TimePoint last = cursor.finished_at;
    for (int pages = 0; pages < kMostPages; ++pages) {
        KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
        KSANA_TRY_VOID(FetchJobs(pass, page.items));
        for (const Run& run : page.items) {
            last = std::max(last, run.status.finished_at.value_or(last));
            if (run.trigger != model::RunTrigger::kCallback) KSANA_TRY_VOID(Judge(pass, run));
        }
        query.cursor = page.next;
        if (page.next.empty()) {
            cursor.finished_at = std::max(cursor.finished_at, pass.now - options_.settle);
            return {};
        }
    }
    pass.found.more = true;
    // Not beyond what may still become visible; else the same page would come again and again.
    const TimePoint settled = std::min(last, pass.now - options_.settle);
    cursor.finished_at = std::max(cursor.finished_at, settled);
    return {};
}

// Behind the place up to which it was looked, for failures, and, where they may close an incident,
// successes. Each by itself: those that are many must not take the room of those that matter.
Result<void> AlertSigns::LookBack(Pass& pass, bool recovering) {
    const bool lately = looked_back_at_ <= pass.now && pass.now < looked_back_at_ + kLookBackEvery;
    if (lately) return {};
    pass.back = true;
    for (const model::RunStates states : {kFailedStates, model::SetOf(RunState::kSucceeded)}) {
        if (states != kFailedStates && !recovering) continue;
        store::RunQuery query;
        query.filter.states = states;
        query.filter.finished_from = pass.from - kLookBack;
        query.filter.finished_until = pass.from;
        query.sort = store::RunSort::kFinished;
        query.limit = kPage;
        for (int pages = 0; pages < kMostBackPages; ++pages) {
            KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
            KSANA_TRY_VOID(FetchJobs(pass, page.items));
            for (const Run& run : page.items) {
                if (run.trigger != model::RunTrigger::kCallback) KSANA_TRY_VOID(Judge(pass, run));
            }
            query.cursor = page.next;
            if (page.next.empty()) break;
        }
    }
    pass.back = false;
    looked_back_at_ = pass.now;
    return {};
}

Result<void> AlertSigns::Judge(Pass& pass, const Run& run) {
    const TimePoint end = run.status.finished_at.value_or(run.updated_at);
    const bool succeeded = run.status.state == RunState::kSucceeded;
    for (const AlertRule* rule : pass.rules) {
        if (pass.back && rule->on != AlertKind::kFailure) continue;
        if (end < rule->created_at || !model::Concerns(rule->scope, run, pass.JobOf(run))) continue;
        if (rule->on == AlertKind::kFailure) {
            if (HasFailed(run)) {
                pass.Bad(
                    *rule, run, end,
                    fmt::format("{}: {}", model::NameOf(run.status.state), run.status.last_error));
            } else if (succeeded) {
                pass.Good(*rule, run, end);
            } else if (run.status.state == RunState::kResolved) {
                KSANA_TRY(const bool held, IsHeld(pass, SubjectOf(run)));
                if (!held) pass.Good(*rule, run, end);
            }
        } else if (rule->on == AlertKind::kMissed) {
            const bool fired = run.nominal_at && run.status.state != RunState::kMissed;
            if (fired) pass.Good(*rule, run, end);
        } else if (rule->on == AlertKind::kLate) {
            const auto late = LatenessOf(run);
            if (!late) continue;
            const TimePoint at = *run.status.started_at;
            if (*late > *rule->longer_than) {
                pass.Bad(*rule, run, at, fmt::format("started {} late", Rounded(*late)));
            } else {
                pass.Good(*rule, run, at);
            }
        } else {
            const auto took = TookOf(run);
            KSANA_TRY(const auto most, LongestOf(pass, *rule, run));
            if (!took || !most) continue;
            if (*took > *most) {
                pass.Bad(*rule, run, end,
                         fmt::format("took {}, more than {}", Rounded(*took), Rounded(*most)));
            } else if (succeeded) {
                pass.Good(*rule, run, end);
            }
        }
    }
    return {};
}

Result<void> AlertSigns::LookAtLedger(Pass& pass, codec::AlertCursor& cursor) {
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
        KSANA_TRY_VOID(FetchJobs(pass, named));
        for (const model::LedgerEntry& entry : page.items) {
            if (entry.recorded_at > pass.now - options_.settle) return {};
            cursor.ledger_seq = entry.seq;
            if (entry.range.fate != model::FireFate::kMissed) continue;
            const auto job = pass.jobs.find(entry.job_id);
            if (job == pass.jobs.end() || !job->second) continue;
            for (const AlertRule* rule : pass.rules) {
                const bool concerned = rule->on == AlertKind::kMissed &&
                                       entry.recorded_at >= rule->created_at &&
                                       model::Concerns(rule->scope, *job->second);
                if (!concerned) continue;
                pass.found.signs.push_back(
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
    pass.found.more = true;
    return {};
}

Result<void> AlertSigns::FetchJobs(Pass& pass, const std::vector<Run>& runs) {
    std::vector<std::string> ids;
    for (const Run& run : runs) {
        if (run.job_id.empty() || pass.jobs.contains(run.job_id)) continue;
        pass.jobs[run.job_id] = nullptr;
        ids.push_back(run.job_id);
    }
    if (ids.empty()) return {};
    KSANA_TRY(std::vector<model::Job> jobs, store_.jobs().GetMany(ids));
    for (model::Job& job : jobs) {
        std::string id = job.id;
        pass.jobs[id] = std::make_shared<const model::Job>(std::move(job));
    }
    return {};
}

}  // namespace ksana::engine

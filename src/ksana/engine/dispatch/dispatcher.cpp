#include "ksana/engine/dispatch/dispatcher.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "ksana/base/log/log.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::engine {

using model::Run;

namespace {

using Jobs = std::unordered_map<std::string, std::shared_ptr<const model::Job>>;

Result<Jobs> JobsOf(store::Store& store, const std::vector<AttemptPointer>& attempts) {
    std::vector<std::string> ids;
    for (const AttemptPointer& attempt : attempts) {
        if (!attempt->run.job_id.empty()) ids.push_back(attempt->run.job_id);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    Jobs jobs;
    if (ids.empty()) return jobs;
    KSANA_TRY(std::vector<model::Job> found, store.jobs().GetMany(ids));
    for (model::Job& job : found) {
        std::string id = job.id;
        jobs.emplace(std::move(id), std::make_shared<const model::Job>(std::move(job)));
    }
    return jobs;
}

// What an executor needs beside the run.
struct Facts {
    std::shared_ptr<const model::Job> job;
    std::shared_ptr<const CallbackCall> callback;
};

Result<std::vector<Facts>> FactsOf(store::Store& store,
                                   const std::vector<AttemptPointer>& attempts) {
    KSANA_TRY(const Jobs jobs, JobsOf(store, attempts));
    std::vector<Facts> facts(attempts.size());
    for (std::size_t n = 0; n < attempts.size(); ++n) {
        const Run& run = attempts[n]->run;
        KSANA_TRY(facts[n].callback, CallbackCallOf(store, run));
        const auto job = jobs.find(run.job_id);
        if (job != jobs.end()) facts[n].job = job->second;
    }
    return facts;
}

Duration LatenessOf(const Run& run) {
    return std::max(run.status.started_at.value_or(run.status.ready_at) - run.status.ready_at,
                    Duration::zero());
}

// The pause before the jobs of claimed runs are read again.
constexpr Duration kJoblessPause = std::chrono::milliseconds(200);
// The interval at which the store is asked for ready runs without a notification: that of another
// node may be lost. Also the longest sleep of this loop.
constexpr Duration kAskAgain = std::chrono::seconds(4);

// The lookahead of claims and of planned starts: as many attempts wait as end within this time.
constexpr Duration kClaimedWait = std::chrono::milliseconds(50);
constexpr Duration kPlannedWait = std::chrono::milliseconds(200);
// The longest time that reports wait for each other at high rates.
constexpr Duration kLinger = std::chrono::milliseconds(10);
// The shortest interval between two starts, so that starts due together are made together.
constexpr Duration kBetweenStarts = std::chrono::milliseconds(4);

model::Event NotStarted() {
    model::Event event;
    event.kind = model::EventKind::kCancelled;
    event.error = "stopped before it was started";
    return event;
}

}  // namespace

Dispatcher::Dispatcher(store::Store& store, Executor& executor, const Clock& clock, Options options)
    : store_(store),
      executor_(executor),
      clock_(clock),
      options_(std::move(options)),
      attempts_(std::make_shared<ActiveAttempts>(
          clock, *options_.limits, options_.slots, options_.lease,
          AttemptSignals{.ended = options_.wake ? options_.wake : [] {},
                         .due = options_.wake_starter ? options_.wake_starter : [] {}})),
      late_starts_(options_.late_start_rate),
      throughput_(options_.slots) {}

void Dispatcher::Hint(store::Topics topics) {
    if (topics.Has(topic())) look_for_ready_ = true;
    if (topics.Has(store::Topic::kCancel)) look_for_cancel_ = true;
}

Result<Step> Dispatcher::RunOnce() {
    const SteadyPoint now = clock_.SteadyNow();
    StartUnresolved();
    StopOverdue(now);
    std::optional<store::ClaimParams> claim = WantedClaim(now);
    if (Lingers(now, claim.has_value())) {
        Step step;
        step.NotAfter(std::chrono::ceil<Duration>(exchanged_at_ + kLinger - now));
        return step;
    }
    std::vector<AttemptPointer> ended = attempts_->TakeEnded();
    end_rate_.Count(ended.size(), now);
    SetPrefetch(ended, now);
    std::vector<model::RunEvent> events;
    events.reserve(ended.size());
    for (const AttemptPointer& attempt : ended) {
        events.push_back({.run_id = attempt->run.id, .event = attempt->event});
    }
    const bool ask_all = look_for_cancel_.exchange(false);
    std::vector<ActiveAttempts::Renewal> renewals = attempts_->Renewals(now, ask_all);
    for (ActiveAttempts::Renewal& renewal : renewals) {
        events.push_back({.run_id = renewal.attempt->run.id, .event = std::move(renewal.event)});
    }
    if (events.empty() && !claim) return NextStep(now);
    exchanged_at_ = now;

    const std::size_t room = claim ? claim->limit : 0;
    const TimePoint asked_at = clock_.Now();
    auto exchanged = store_.runs().Exchange({.now = {},
                                             .events = std::move(events),
                                             .follow_up = options_.follow_up,
                                             .want_runs = options_.want_runs,
                                             .claim = std::move(claim)});
    if (!exchanged) {
        attempts_->PutBack(std::move(ended));
        attempts_->GiveBack(room);
        if (room > 0) look_for_ready_ = true;
        if (ask_all) look_for_cancel_ = true;
        return std::move(exchanged).error();
    }
    {
        const LogBatch one_write;
        for (std::size_t n = 0; n < ended.size(); ++n) {
            NoteReported(*ended[n], exchanged->applied[n]);
        }
    }
    for (std::size_t n = 0; n < renewals.size(); ++n) {
        NoteRenewed(*renewals[n].attempt, exchanged->applied[ended.size() + n], now);
    }
    if (options_.observer != nullptr && exchanged->claimed.skipped > 0) {
        options_.observer->Skipped(exchanged->claimed.skipped);
    }
    if (exchanged->claimed.more) look_for_ready_ = true;
    attempts_->SetClaimsWait(exchanged->claimed.more);
    Accept(std::move(exchanged->claimed.runs), room, asked_at);
    return NextStep(now);
}

void Dispatcher::SetPrefetch(const std::vector<AttemptPointer>& ended, SteadyPoint now) {
    std::size_t count = 0;
    SteadyPoint::duration together{};
    for (const AttemptPointer& attempt : ended) {
        if (!attempt->begun) continue;
        ++count;
        together += attempt->ended_at - attempt->started_at;
    }
    throughput_.Count(count, std::chrono::duration_cast<Duration>(together), now);
    attempts_->SetPrefetch(throughput_.Within(kClaimedWait, now),
                           throughput_.Within(kPlannedWait, now));
}

// At high rates reports wait for each other for a short time: no caller waits for them, and a
// commit costs the same for one report as for hundreds.
bool Dispatcher::Lingers(SteadyPoint now, bool claims) {
    const bool many = end_rate_.per_second() > RateMeter::kMany;
    const bool lingers = many && !claims && now - exchanged_at_ < kLinger && !look_for_cancel_;
    const std::size_t enough = lingers ? options_.batch : 1;
    return attempts_->CountEnded(enough) < enough && lingers;
}

// Stops attempts whose executor did not enforce the timeout.
void Dispatcher::StopOverdue(SteadyPoint now) {
    for (const AttemptPointer& attempt : attempts_->Overdue(now)) {
        Stop(*attempt, StopReason::kTimeout);
    }
}

// Claims only if a run may be ready: after a commit that says so, or when a known run comes due.
// Not after every report: a claim that finds nothing costs as much as one that finds runs.
std::optional<store::ClaimParams> Dispatcher::WantedClaim(SteadyPoint now) {
    const bool due = next_ready_ && *next_ready_ <= clock_.Now();
    if (!look_for_ready_ && !due) return std::nullopt;
    if (!attempts_->HasRoomForClaim()) {
        attempts_->SetClaimsWait(true);
        return std::nullopt;
    }
    std::size_t most = options_.batch;
    {
        const MutexLock lock(late_mutex_);
        most = std::min(most, late_starts_.Allowed(now));
    }
    const std::size_t room = attempts_->ReserveForClaim(most);
    if (room == 0) return std::nullopt;
    look_for_ready_ = false;
    next_ready_.reset();
    return store::ClaimParams{.filter = {.kind = executor_.kind(), .types = executor_.types()},
                              .owner = options_.owner,
                              .lease = options_.lease,
                              .limit = room};
}

// K-19: logs one line for every attempt that ended.
void Dispatcher::NoteReported(const ActiveAttempt& attempt, const store::Applied& applied) {
    const Run& run = attempt.run;
    const model::Event& event = attempt.event;
    static const std::string kNoName;
    const std::string& name = attempt.job ? attempt.job->name : kNoName;
    const SteadyPoint began = attempt.begun ? attempt.started_at : attempt.ended_at;
    const auto took = std::chrono::duration_cast<Duration>(attempt.ended_at - began);
    const bool taken = applied.verdict == model::EventVerdict::kApplied ||
                       applied.verdict == model::EventVerdict::kDuplicate;
    const bool well = taken && event.kind == model::EventKind::kSuccess;
    const bool deferred = taken && attempt.held_back;
    const LogLevel level = deferred ? LogLevel::kDebug : well ? LogLevel::kInfo : LogLevel::kWarn;
    if (LogEnabled(level)) {
        Log(level,
            deferred ? "a limit is in the way of a run; it is tried again later"
            : taken  ? "attempt ended"
                     : "the report of an attempt was refused",
            {{"job_id", run.job_id},
             {"name", name},
             {"run_id", run.id.ToString()},
             {"trace_id", model::TraceIdOf(run)},
             {"span_id", model::AttemptSpanText(run)},
             {"attempt", run.status.attempt},
             {"status", model::NameOf(event.kind)},
             {"run_state", model::NameOf(applied.state)},
             {"latency_ms", std::chrono::duration<double, std::milli>(took).count()},
             {"error", taken ? event.error : applied.reason}});
    }
    if (options_.observer == nullptr) return;
    if (deferred) return options_.observer->Deferred(run, *attempt.held_back);
    options_.observer->Ended({.run = run,
                              .job_name = name,
                              .event = event,
                              .applied = applied,
                              .took = took,
                              .job = attempt.job.get()});
}

void Dispatcher::NoteRenewed(ActiveAttempt& attempt, const store::Applied& applied,
                             SteadyPoint asked_at) {
    if (applied.verdict != model::EventVerdict::kApplied) {
        attempts_->NoteLost(attempt);
        Stop(attempt, StopReason::kLost);
        return;
    }
    attempts_->NoteRenewed(attempt, asked_at);
    if (applied.cancel_requested) Stop(attempt, StopReason::kCancelled);
}

// Renews the leases of claimed runs from now on, even while their jobs cannot be read.
void Dispatcher::Accept(std::vector<Run> runs, std::size_t room, TimePoint asked_at) {
    if (!runs.empty() && runs.front().status.started_at) {
        store_offset_.Note(asked_at, clock_.Now(), *runs.front().status.started_at);
    }
    for (Run& run : runs) {
        unresolved_.push_back(MakeAttempt(std::move(run)));
        unresolved_.back()->store_offset = store_offset_.Least();
        attempts_->Add(unresolved_.back());
    }
    attempts_->GiveBack(room - std::min(room, runs.size()));
    StartUnresolved();
}

void Dispatcher::StartUnresolved() {
    if (unresolved_.empty()) return;
    auto facts = FactsOf(store_, unresolved_);
    if (!facts) {
        Log(LogLevel::kWarn, "the jobs of claimed runs cannot be read",
            {{"runs", unresolved_.size()}, {"error", facts.error().Describe()}});
        return;
    }
    std::size_t late = 0;
    const SteadyPoint now = clock_.SteadyNow();
    for (std::size_t n = 0; n < unresolved_.size(); ++n) {
        if (LatenessOf(unresolved_[n]->run) > LateStarts::kLate) ++late;
        attempts_->MakeReady(*unresolved_[n], std::move((*facts)[n].job),
                             std::move((*facts)[n].callback), now);
    }
    unresolved_.clear();
    CountLate(late);
    StartDue();
    if (attempts_->closed()) GiveBackWaiting();
}

Step Dispatcher::StartDue() {
    const std::uint64_t stops = attempts_->stops();
    for (AttemptPointer& attempt : attempts_->TakeDue(clock_.SteadyNow())) {
        Start(std::move(attempt), stops);
    }
    Step step;
    const auto wait = attempts_->UntilDue(clock_.SteadyNow());
    if (wait) step.NotAfter(std::max(*wait, kBetweenStarts));
    return step;
}

// Does not start the attempt if it was lost, cancelled or given back between claim and start. A
// stop requested during executor_.Start may find nothing to cancel, so it is repeated afterwards.
// `stops`: the count of ActiveAttempts before the attempt was taken.
void Dispatcher::Start(AttemptPointer attempt, std::uint64_t stops) {
    if (attempts_->stops() != stops && attempts_->StopOf(*attempt) != StopReason::kNone) {
        attempts_->End(*attempt, NotStarted());
        return;
    }
    if (options_.observer != nullptr) {
        const auto waited = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - attempt->due);
        options_.observer->Started(attempt->run, LatenessOf(attempt->run) + waited);
    }
    if (executor_.tells_news()) {
        // The function lives in the attempt, so the attempt outlives it. The attempts own the
        // attempt, so it must not own them.
        attempt->tell = [all = std::weak_ptr(attempts_), one = attempt.get()](AttemptNews news) {
            if (const auto attempts = all.lock()) attempts->Tell(*one, std::move(news));
        };
    }
    executor_.Start(attempt, [attempts = attempts_, attempt](model::Event event) {
        attempts->End(*attempt, std::move(event));
    });
    if (attempts_->stops() != stops &&
        attempts_->StopOf(*attempt).value_or(StopReason::kNone) != StopReason::kNone) {
        executor_.Cancel(attempt->run.status.exec_id);
    }
}

void Dispatcher::CountLate(std::size_t late) {
    const MutexLock lock(late_mutex_);
    late_starts_.Spend(late);
}

store::StartAs Dispatcher::Reserve(std::size_t most) {
    most = std::min(most, options_.batch);
    {
        const MutexLock lock(late_mutex_);
        most = std::min(most, late_starts_.Allowed(clock_.SteadyNow()));
    }
    return {.owner = options_.owner,
            .lease = options_.lease,
            .kind = executor_.kind(),
            .types = executor_.types(),
            .limit = attempts_->Reserve(most)};
}

void Dispatcher::Begin(std::vector<AttemptPointer> attempts, const store::StartAs& reserved,
                       Duration store_offset) {
    std::size_t late = 0;
    const std::size_t count = attempts.size();
    const SteadyPoint now = clock_.SteadyNow();
    const TimePoint store_now = clock_.Now() + store_offset;
    for (AttemptPointer& attempt : attempts) {
        if (LatenessOf(attempt->run) > LateStarts::kLate) ++late;
        attempt->store_offset = store_offset;
        const Duration early = attempt->run.status.ready_at - store_now;
        attempts_->AddReady(std::move(attempt), now + std::max(early, Duration::zero()));
    }
    attempts_->GiveBack(reserved.limit - std::min(reserved.limit, count));
    CountLate(late);
    // RunOnce has not planned the renewals and timeouts of these attempts. It never sleeps longer
    // than kAskAgain, which is soon enough for them.
    if (StartDue().within && options_.wake_starter) options_.wake_starter();
    if (attempts_->closed()) GiveBackWaiting();
}

DispatchLoad Dispatcher::Load() {
    const MutexLock lock(late_mutex_);
    return {.slots = options_.slots,
            .busy = attempts_->UnderWay(),
            .starts_held_back = late_starts_.UsedUp(clock_.SteadyNow())};
}

void Dispatcher::Close() {
    attempts_->Close();
    GiveBackWaiting();
}

void Dispatcher::GiveBackWaiting() {
    for (const AttemptPointer& attempt : attempts_->Waiting()) {
        Stop(*attempt, StopReason::kShutdown);
    }
}

void Dispatcher::Stop(ActiveAttempt& attempt, StopReason reason) {
    switch (attempts_->Stop(attempt, reason)) {
        case ActiveAttempts::Stopping::kNot:
            return;
        case ActiveAttempts::Stopping::kWaits:
            attempts_->End(attempt, NotStarted());
            return;
        case ActiveAttempts::Stopping::kUnderWay:
            executor_.Cancel(attempt.run.status.exec_id);
            return;
    }
}

void Dispatcher::StopAll() {
    for (const AttemptPointer& attempt : attempts_->All()) Stop(*attempt, StopReason::kShutdown);
}

void Dispatcher::Abandon() {
    for (const AttemptPointer& attempt : attempts_->All()) {
        model::Event event;
        event.kind = model::EventKind::kShutdown;
        event.error = "did not stop in time";
        attempts_->End(*attempt, std::move(event));
    }
}

Result<Step> Dispatcher::NextStep(SteadyPoint now) {
    Step step;
    step.NotAfter(kAskAgain);
    if (const auto attention = attempts_->UntilNextCheck(now)) step.NotAfter(*attention);
    if (!unresolved_.empty()) step.NotAfter(kJoblessPause);
    // Without room nothing can be claimed. An attempt that ends, or reserved room that is returned,
    // wakes the loop.
    if (!attempts_->HasRoomForClaim()) return step;
    if (look_for_ready_) {
        const MutexLock lock(late_mutex_);
        const Duration wait = late_starts_.UntilOne(now);
        if (wait > Duration::zero()) step.NotAfter(wait);
        step.again = wait == Duration::zero();
        return step;
    }
    const bool ask_again = now - asked_at_ >= kAskAgain;
    if (!next_ready_ || ask_again) {
        KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
        asked_at_ = now;
        next_ready_.reset();
        if (times.ready) next_ready_ = OnThisNode(*times.ready, times.now, clock_);
        if (times.queued && ask_again) {
            look_for_ready_ = true;
            step.again = true;
        }
    }
    if (next_ready_) step.NotLaterThan(*next_ready_);
    return step;
}

}  // namespace ksana::engine

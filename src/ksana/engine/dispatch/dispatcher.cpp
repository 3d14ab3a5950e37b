#include "ksana/engine/dispatch/dispatcher.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/records/wait_cause_codec.hpp"

namespace ksana::engine {

using model::Run;

namespace {

using Jobs = std::unordered_map<std::string, std::shared_ptr<const model::Job>>;

Result<Jobs> JobsOf(store::Store& store, const std::vector<Run>& runs) {
    std::vector<std::string> ids;
    for (const Run& run : runs) {
        if (!run.job_id.empty()) ids.push_back(run.job_id);
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

// What is to be started, with all that its executor has to know. Leaves `runs` alone where it
// fails, else empty.
Result<std::vector<std::unique_ptr<Task>>> TasksOf(store::Store& store, std::vector<Run>& runs) {
    KSANA_TRY(const Jobs jobs, JobsOf(store, runs));
    std::vector<std::shared_ptr<const CallbackCall>> callbacks(runs.size());
    for (std::size_t n = 0; n < runs.size(); ++n) {
        KSANA_TRY(callbacks[n], CallbackCallOf(store, runs[n]));
    }
    std::vector<std::unique_ptr<Task>> tasks;
    tasks.reserve(runs.size());
    for (std::size_t n = 0; n < runs.size(); ++n) {
        const auto job = jobs.find(runs[n].job_id);
        tasks.push_back(std::make_unique<Task>(std::move(runs[n]),
                                               job == jobs.end() ? nullptr : job->second,
                                               std::move(callbacks[n])));
    }
    runs.clear();
    return tasks;
}

Duration LatenessOf(const Run& run) {
    return std::max(run.status.started_at.value_or(run.status.ready_at) - run.status.ready_at,
                    Duration::zero());
}

// Before the jobs of claimed runs are asked for again.
constexpr Duration kJoblessPause = std::chrono::milliseconds(200);
// What is ready is asked for again after this, also when nobody said that there is something: the
// notification of another node may have been lost. Also the longest sleep of this loop.
constexpr Duration kAskAgain = std::chrono::seconds(4);

// So much of what can be started later is claimed, or planned, now: as much as ends in this time.
constexpr Duration kClaimedWait = std::chrono::milliseconds(50);
constexpr Duration kPlannedWait = std::chrono::milliseconds(200);
// With many a second reports wait for each other, and not longer than this.
constexpr Duration kLinger = std::chrono::milliseconds(10);
// Starts of one time come together rather than one by one.
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
      flights_(std::make_shared<ActiveAttempts>(
          clock, *options_.limits, options_.slots, options_.lease,
          AttemptSignals{.landed = options_.wake ? options_.wake : [] {},
                         .departs = options_.wake_starter ? options_.wake_starter : [] {}})),
      late_starts_(options_.late_start_rate),
      turnover_(options_.slots) {}

void Dispatcher::Hint(store::Topics topics) {
    if (topics.Has(topic())) look_for_ready_ = true;
    if (topics.Has(store::Topic::kCancel)) look_for_cancel_ = true;
}

Result<Step> Dispatcher::RunOnce() {
    const SteadyPoint now = clock_.SteadyNow();
    StartJobless();
    StopOverdue(now);
    std::optional<store::ClaimParams> claim = WantedClaim(now);
    if (Lingers(now, claim.has_value())) {
        Step step;
        step.NotAfter(std::chrono::ceil<Duration>(exchanged_at_ + kLinger - now));
        return step;
    }
    std::vector<Landing> landed = flights_->TakeLanded();
    pace_.Count(landed.size(), now);
    LetWait(landed, now);
    std::vector<store::RunEvent> events;
    events.reserve(landed.size());
    for (const Landing& landing : landed) {
        events.push_back({.run_id = landing.flight->run.id, .event = landing.event});
    }
    const bool ask_all = look_for_cancel_.exchange(false);
    std::vector<std::string> renewed;  // their exec_ids, in the order of the events behind those
    for (store::RunEvent& renewal : flights_->Renewals(now, ask_all)) {
        renewed.push_back(renewal.event.exec_id);
        events.push_back(std::move(renewal));
    }
    if (events.empty() && !claim) return NextStep(now);
    exchanged_at_ = now;

    const std::size_t room = claim ? claim->limit : 0;
    auto exchanged = store_.runs().Exchange({.now = {},
                                             .events = std::move(events),
                                             .follow_up = options_.follow_up,
                                             .claim = std::move(claim)});
    if (!exchanged) {
        flights_->PutBack(std::move(landed));
        flights_->GiveBack(room);
        if (room > 0) look_for_ready_ = true;
        if (ask_all) look_for_cancel_ = true;
        return std::move(exchanged).error();
    }
    Report(landed, exchanged->applied);
    for (std::size_t n = 0; n < renewed.size(); ++n) {
        Kept(renewed[n], exchanged->applied[landed.size() + n], now);
    }
    if (exchanged->claimed.more) look_for_ready_ = true;
    flights_->ClaimsWait(exchanged->claimed.more);
    Accept(std::move(exchanged->claimed.runs), room);
    return NextStep(now);
}

void Dispatcher::LetWait(const std::vector<Landing>& landed, SteadyPoint now) {
    std::size_t ended = 0;
    SteadyPoint::duration together{};
    for (const Landing& landing : landed) {
        if (!landing.flight->begun) continue;
        ++ended;
        together += landing.at - landing.flight->started_at;
    }
    turnover_.Count(ended, std::chrono::duration_cast<Duration>(together), now);
    flights_->LetWait(turnover_.Within(kClaimedWait, now), turnover_.Within(kPlannedWait, now));
}

// With many a second reports wait for each other a little: nobody waits for them, and a commit
// costs the same for one and for hundreds.
bool Dispatcher::Lingers(SteadyPoint now, bool claims) {
    const bool many = pace_.per_second() > RateMeter::kMany;
    const bool lingers = many && !claims && now - exchanged_at_ < kLinger && !look_for_cancel_;
    const std::size_t enough = lingers ? options_.batch : 1;
    return flights_->Landed(enough) < enough && lingers;
}

// The executor keeps an attempt's time by itself; this is for one that does not.
void Dispatcher::StopOverdue(SteadyPoint now) {
    for (const std::string& exec_id : flights_->Overdue(now)) Stop(exec_id, StopReason::kTimeout);
}

// Asks only when there can be something: after a commit that says so, or when a run comes due. Not
// after every report: a claim that finds nothing costs as much as one that does.
std::optional<store::ClaimParams> Dispatcher::WantedClaim(SteadyPoint now) {
    const bool due = next_ready_ && *next_ready_ <= clock_.Now();
    if (!look_for_ready_ && !due) return std::nullopt;
    if (!flights_->HasRoomForClaim()) {
        flights_->ClaimsWait(true);
        return std::nullopt;
    }
    std::size_t most = options_.batch;
    {
        const std::lock_guard lock(late_mutex_);
        most = std::min(most, late_starts_.Allowed(now));
    }
    const std::size_t room = flights_->ReserveForClaim(most);
    if (room == 0) return std::nullopt;
    look_for_ready_ = false;
    next_ready_.reset();
    return store::ClaimParams{.filter = {.kind = executor_.kind()},
                              .owner = options_.owner,
                              .lease = options_.lease,
                              .limit = room};
}

void Dispatcher::Report(const std::vector<Landing>& landed,
                        const std::vector<store::Applied>& applied) {
    const LogTogether one_write;
    for (std::size_t n = 0; n < landed.size(); ++n) Told(landed[n], applied[n]);
}

// K-19: one line for every attempt that ended.
void Dispatcher::Told(const Landing& landing, const store::Applied& applied) {
    const Run& run = landing.flight->run;
    static const std::string kNoName;
    const std::string& name = landing.flight->job ? landing.flight->job->name : kNoName;
    const SteadyPoint began = landing.flight->begun ? landing.flight->started_at : landing.at;
    const auto took = std::chrono::duration_cast<Duration>(landing.at - began);
    const bool taken = applied.verdict == store::ApplyVerdict::kApplied ||
                       applied.verdict == store::ApplyVerdict::kDuplicate;
    const bool well = taken && landing.event.kind == model::EventKind::kSuccess;
    const bool deferred =
        taken && landing.event.kind == model::EventKind::kSnooze && landing.event.not_begun;
    const LogLevel level = deferred ? LogLevel::kDebug : well ? LogLevel::kInfo : LogLevel::kWarn;
    if (LogEnabled(level)) {
        Log(level,
            deferred ? "a limit is in the way of a run; it is tried again later"
            : taken  ? "attempt ended"
                     : "the report of an attempt was refused",
            {{"job_id", run.job_id},
             {"name", name},
             {"run_id", run.id.ToString()},
             {"attempt", run.status.attempt},
             {"status", model::NameOf(landing.event.kind)},
             {"run_state", model::NameOf(applied.state)},
             {"latency_ms", std::chrono::duration<double, std::milli>(took).count()},
             {"error", taken ? landing.event.error : applied.reason}});
    }
    if (options_.observer == nullptr) return;
    if (deferred) {
        const auto cause = codec::WaitCauseFromDetail(landing.event.detail);
        return options_.observer->Deferred(run, cause.value_or(model::WaitCause{}));
    }
    options_.observer->Ended(
        {.run = run, .job_name = name, .event = landing.event, .applied = applied, .took = took});
}

void Dispatcher::Kept(const std::string& exec_id, const store::Applied& applied,
                      SteadyPoint asked_at) {
    if (applied.verdict != store::ApplyVerdict::kApplied) {
        flights_->Lost(exec_id);
        Stop(exec_id, StopReason::kLost);
        return;
    }
    flights_->Renewed(exec_id, asked_at);
    if (applied.cancel_requested) Stop(exec_id, StopReason::kCancelled);
}

// Their leases are kept from now on, also while their jobs cannot be read.
void Dispatcher::Accept(std::vector<Run> runs, std::size_t room) {
    for (const Run& run : runs) flights_->Take(run);
    flights_->GiveBack(room - std::min(room, runs.size()));
    if (jobless_.empty()) {
        jobless_ = std::move(runs);
    } else {
        std::ranges::move(runs, std::back_inserter(jobless_));
    }
    StartJobless();
}

void Dispatcher::StartJobless() {
    if (jobless_.empty()) return;
    auto tasks = TasksOf(store_, jobless_);
    if (!tasks) {
        Log(LogLevel::kWarn, "the jobs of claimed runs cannot be read",
            {{"runs", jobless_.size()}, {"error", tasks.error().Describe()}});
        return;
    }
    std::size_t late = 0;
    const SteadyPoint now = clock_.SteadyNow();
    for (auto& task : *tasks) {
        if (LatenessOf(task->run) > LateStarts::kLate) ++late;
        flights_->Depart(std::move(task), now);
    }
    CountLate(late);
    StartDue();
    if (flights_->closed()) GiveBackWaiting();
}

Step Dispatcher::StartDue() {
    const std::uint64_t stops = flights_->stops();
    for (Departure& departure : flights_->TakeDue(clock_.SteadyNow())) {
        Start(std::move(departure), stops);
    }
    Step step;
    const auto wait = flights_->UntilDeparture(clock_.SteadyNow());
    if (wait) step.NotAfter(std::max(*wait, kBetweenStarts));
    return step;
}

// Between claim and start it may have been lost, cancelled or given back; then it is not started. A
// wish to stop that comes in the middle has found nothing to stop, and is passed on afterwards.
// `stops`: of ActiveAttempts, before it was taken.
void Dispatcher::Start(Departure departure, std::uint64_t stops) {
    Task& task = *departure.task;
    const std::string exec_id = task.run.status.exec_id;
    if (flights_->stops() != stops && flights_->StopOf(exec_id) != StopReason::kNone) {
        flights_->Land(exec_id, NotStarted());
        return;
    }
    if (options_.observer != nullptr) {
        const auto waited =
            std::chrono::duration_cast<Duration>(clock_.SteadyNow() - departure.due);
        options_.observer->Started(task.run, LatenessOf(task.run) + waited);
    }
    executor_.Start(std::move(task), [flights = flights_, exec_id](model::Event event) {
        flights->Land(exec_id, std::move(event));
    });
    if (flights_->stops() != stops &&
        flights_->StopOf(exec_id).value_or(StopReason::kNone) != StopReason::kNone) {
        executor_.Cancel(exec_id);
    }
}

void Dispatcher::CountLate(std::size_t late) {
    const std::lock_guard lock(late_mutex_);
    late_starts_.Spend(late);
}

store::StartAs Dispatcher::Reserve(std::size_t most) {
    most = std::min(most, options_.batch);
    {
        const std::lock_guard lock(late_mutex_);
        most = std::min(most, late_starts_.Allowed(clock_.SteadyNow()));
    }
    return {.owner = options_.owner,
            .lease = options_.lease,
            .kind = executor_.kind(),
            .limit = flights_->Reserve(most)};
}

void Dispatcher::Begin(std::vector<Task> tasks, const store::StartAs& reserved,
                       Duration store_offset) {
    std::size_t late = 0;
    const std::size_t count = tasks.size();
    const SteadyPoint now = clock_.SteadyNow();
    const TimePoint store_now = clock_.Now() + store_offset;
    for (Task& task : tasks) {
        if (LatenessOf(task.run) > LateStarts::kLate) ++late;
        const Duration early = task.run.status.ready_at - store_now;
        flights_->TakeToDepart(std::make_unique<Task>(std::move(task)),
                               now + std::max(early, Duration::zero()));
    }
    flights_->GiveBack(reserved.limit - std::min(reserved.limit, count));
    CountLate(late);
    // Renewals and timeouts of these are not in the loop's plans; it never sleeps longer than
    // kAskAgain, which is soon enough for them.
    if (StartDue().within && options_.wake_starter) options_.wake_starter();
    if (flights_->closed()) GiveBackWaiting();
}

DispatchLoad Dispatcher::Load() {
    const std::lock_guard lock(late_mutex_);
    return {.slots = options_.slots,
            .busy = flights_->UnderWay(),
            .starts_held_back = late_starts_.UsedUp(clock_.SteadyNow())};
}

void Dispatcher::Close() {
    flights_->Close();
    GiveBackWaiting();
}

void Dispatcher::GiveBackWaiting() {
    for (const std::string& exec_id : flights_->Waiting()) Stop(exec_id, StopReason::kShutdown);
}

void Dispatcher::Stop(const std::string& exec_id, StopReason reason) {
    switch (flights_->Stop(exec_id, reason)) {
        case ActiveAttempts::Stopping::kNot:
            return;
        case ActiveAttempts::Stopping::kWaits:
            flights_->Land(exec_id, NotStarted());
            return;
        case ActiveAttempts::Stopping::kUnderWay:
            executor_.Cancel(exec_id);
            return;
    }
}

void Dispatcher::StopAll() {
    for (const std::string& exec_id : flights_->All()) Stop(exec_id, StopReason::kShutdown);
}

void Dispatcher::Abandon() {
    for (const std::string& exec_id : flights_->All()) {
        model::Event event;
        event.kind = model::EventKind::kShutdown;
        event.error = "did not stop in time";
        flights_->Land(exec_id, std::move(event));
    }
}

Result<Step> Dispatcher::NextStep(SteadyPoint now) {
    Step step;
    step.NotAfter(kAskAgain);
    if (const auto attention = flights_->UntilAttention(now)) step.NotAfter(*attention);
    if (!jobless_.empty()) step.NotAfter(kJoblessPause);
    // Without room nothing can be claimed: what lands, or is given back, wakes the loop.
    if (!flights_->HasRoomForClaim()) return step;
    if (look_for_ready_) {
        const std::lock_guard lock(late_mutex_);
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

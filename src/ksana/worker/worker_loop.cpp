#include "ksana/worker/worker_loop.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::worker {
namespace {

constexpr std::size_t kMostReports = 500;  // attempts in one exchange
constexpr Duration kCallTimeout = std::chrono::seconds(10);
constexpr Duration kPollSlack = std::chrono::seconds(5);
// Without a claim after the only server has announced its stop.
constexpr Duration kQuiet = std::chrono::seconds(2);
// How long a worker that ends tries to tell the server.
constexpr Duration kFarewell = std::chrono::seconds(5);
constexpr Duration kLeastHeartbeat = std::chrono::milliseconds(100);

}  // namespace

// The answers that RunOnce has not seen yet. Shared with the calls under way.
struct WorkerLoop::Inbox {
    explicit Inbox(Wakeup& to_wake) : wakeup(to_wake) {}

    void Put(std::function<void()> answer) {
        const MutexLock lock(mutex);
        if (closed) return;
        answers.push_back(std::move(answer));
        wakeup.Notify();
    }
    void Wake() {
        const MutexLock lock(mutex);
        if (!closed) wakeup.Notify();
    }

    Wakeup& wakeup;
    Mutex mutex;
    std::vector<std::function<void()>> answers KSANA_GUARDED_BY(mutex);
    bool closed KSANA_GUARDED_BY(mutex) = false;  // the loop and its wakeup are gone
};

WorkerLoop::WorkerLoop(LoopOptions options, Parts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      inbox_(std::make_shared<Inbox>(parts_.wakeup)),
      held_(std::make_shared<HeldTasks>(
          parts_.clock,
          HeldTasks::Options{.slots = static_cast<std::size_t>(options_.identity.slots),
                             .lease = options_.lease,
                             .wake = [inbox = inbox_] { inbox->Wake(); },
                             .ended = parts_.ended})) {}

WorkerLoop::~WorkerLoop() {
    const MutexLock lock(inbox_->mutex);
    inbox_->closed = true;
    inbox_->answers.clear();
}

void WorkerLoop::Drain() {
    drain_wanted_ = true;
    parts_.wakeup.Notify();
}

void WorkerLoop::Hurry() {
    hurry_wanted_ = true;
    Drain();
}

SteadyPoint WorkerLoop::RunOnce() {
    ObeyWishes(parts_.clock.SteadyNow());  // first: runs that arrive now are given back
    TakeAnswers();
    if (over()) return kNever;
    const SteadyPoint now = parts_.clock.SteadyNow();
    held_->StopDue(now);
    SendAll(now);
    Advance(now);
    return NextTime(now);
}

void WorkerLoop::TakeAnswers() {
    std::vector<std::function<void()>> answers;
    {
        const MutexLock lock(inbox_->mutex);
        answers.swap(inbox_->answers);
    }
    for (const auto& answer : answers) answer();
}

void WorkerLoop::Enter(Phase phase, SteadyPoint until) {
    phase_ = phase;
    phase_until_ = until;
    if (claim_.busy && !std::exchange(claim_.cancelled, true)) parts_.wire.Cancel(claim_.id);
}

void WorkerLoop::ObeyWishes(SteadyPoint now) {
    if (drain_wanted_ && phase_ == Phase::kServing) {
        Log(LogLevel::kInfo, "draining: claims nothing more and finishes what runs",
            {{"running", held_->running()}});
        Enter(Phase::kDraining, now + options_.drain_timeout);
        heartbeat_slot_.not_before = now;
    }
    if (hurry_wanted_ && phase_ == Phase::kDraining) phase_until_ = now;
}

void WorkerLoop::SendAll(SteadyPoint now) {
    if (phase_ == Phase::kFenced || phase_ == Phase::kOver) return;
    DropStalePoll();
    SendRegistration(now);
    SendHeartbeat(now);
    SendBeats(now);
    SendEnds(now);
    SendClaim(now);
    if (phase_ == Phase::kLeaving) SendFarewell(now);
}

// Moves on to the next phase when this one is done or its time is over.
void WorkerLoop::Advance(SteadyPoint now) {
    const bool late = phase_until_ <= now;
    if (phase_ == Phase::kDraining) {
        const bool empty = held_->running() == 0 && held_->pending() == 0 && !claim_.busy;
        if (empty) {
            Enter(Phase::kLeaving, now + kFarewell);
            return SendFarewell(now);
        }
        if (!late) return;
        Log(LogLevel::kWarn, "the time to drain is over: attempts are stopped and given back",
            {{"running", held_->running()}});
        held_->StopAll(StopReason::kShutdown);
        Enter(Phase::kReleasing, now + options_.stop_grace);
    }
    if (phase_ == Phase::kReleasing) {
        if (held_->running() > 0 && phase_until_ > now) return;
        held_->ReleaseAll();
        Enter(Phase::kReporting, now + kFarewell);
        SendEnds(now);
    }
    if (phase_ == Phase::kReporting && (held_->pending() == 0 || phase_until_ <= now)) {
        Enter(Phase::kLeaving, now + kFarewell);
        SendFarewell(now);
    }
    if (phase_ == Phase::kLeaving && phase_until_ <= now) Enter(Phase::kOver, kNever);
    if (phase_ == Phase::kFenced && (held_->running() == 0 || phase_until_ <= now)) {
        Enter(Phase::kOver, kNever);
    }
}

SteadyPoint WorkerLoop::NextTime(SteadyPoint now) const {
    if (over()) return kNever;
    SteadyPoint next = phase_until_;
    const auto consider = [&](const Slot& slot, bool wanted) {
        if (wanted && !slot.busy && slot.not_before > now) next = std::min(next, slot.not_before);
    };
    consider(registration_, phase_ == Phase::kServing && !registered_);
    consider(heartbeat_slot_, registered_);
    consider(ends_, held_->pending() > 0);
    consider(claim_, Claims() && held_->Free() > 0);
    consider(farewell_, phase_ == Phase::kLeaving);
    if (const auto task = held_->NextTime()) {
        next = std::min(next, std::max(*task, beats_.busy ? now : beats_.not_before));
    }
    return next;
}

void WorkerLoop::Send(Slot& slot, WireCall call, std::function<void(const WireAnswer&)> handle) {
    slot.busy = true;
    slot.cancelled = false;
    slot.turn = parts_.wire.turns();
    auto done = [inbox = inbox_, &slot, handle = std::move(handle)](WireAnswer answer) {
        // Runs on the thread of RunOnce, as long as there is a loop.
        inbox->Put([&slot, handle, answer = std::move(answer)] {
            slot.busy = false;
            handle(answer);
        });
    };
    slot.id = parts_.wire.Send(std::move(call), std::move(done));
}

void WorkerLoop::SendRegistration(SteadyPoint now) {
    if (phase_ != Phase::kServing || registered_ || !MaySend(registration_, now)) return;
    Send(registration_,
         {.path = "/api/v1/workers",
          .body = RegistrationBody(options_.identity),
          .timeout = kCallTimeout},
         [this](const WireAnswer& answer) { OnRegistered(answer); });
}

void WorkerLoop::OnRegistered(const WireAnswer& answer) {
    const SteadyPoint now = parts_.clock.SteadyNow();
    registration_.not_before = now + answer.pause;
    if (!answer.error) {
        Log(LogLevel::kInfo, "registered",
            {{"worker", options_.identity.name},
             {"server", parts_.wire.server()},
             {"slots", options_.identity.slots}});
        registered_ = true;
        was_registered_ = true;
        heartbeat_slot_.not_before = now;  // the answer says when the next one is due
        return;
    }
    const bool may_pass = answer.status == 0 || answer.status == 429 || answer.status >= 500;
    const bool may_be_let_in = answer.status == 401 || answer.status == 403;
    if (!may_pass && !(may_be_let_in && was_registered_)) {
        failure_ = Error(*answer.error).WithContext("the server does not accept this worker");
        held_->LoseAll();
        return Enter(Phase::kFenced, now + options_.stop_grace);
    }
    Log(LogLevel::kWarn, "not registered, tries again",
        {{"error", answer.error->message},
         {"in_ms", std::chrono::floor<std::chrono::milliseconds>(answer.pause).count()}});
}

void WorkerLoop::SendHeartbeat(SteadyPoint now) {
    if (!registered_ || phase_ == Phase::kLeaving || !MaySend(heartbeat_slot_, now)) return;
    const bool draining = phase_ != Phase::kServing;
    told_draining_ = draining;
    Send(heartbeat_slot_,
         {.path = PathOf(options_.identity, "/heartbeat"),
          .body = HeartbeatBody(options_.identity, held_->running(), draining),
          .timeout = kCallTimeout},
         [this](const WireAnswer& answer) { OnHeartbeat(answer); });
}

void WorkerLoop::OnHeartbeat(const WireAnswer& answer) {
    if (IsExpelled(answer)) return;
    const SteadyPoint now = parts_.clock.SteadyNow();
    if (answer.error) {
        heartbeat_slot_.not_before = now + std::max(answer.pause, kLeastHeartbeat);
        Log(LogLevel::kWarn, "no heartbeat", {{"error", answer.error->message}});
        return;
    }
    const BeatAnswer read = BeatAnswerFrom(answer.json);
    if (read.heartbeat_in) heartbeat_ = std::max(*read.heartbeat_in, kLeastHeartbeat);
    const bool untold = phase_ != Phase::kServing && !told_draining_;
    heartbeat_slot_.not_before = untold ? now : now + heartbeat_;
    if (read.drain) DrainAsAsked();
}

// A person drains this worker: it finishes what it has, however long that takes, and leaves.
void WorkerLoop::DrainAsAsked() {
    if (phase_ != Phase::kServing) return;
    Log(LogLevel::kInfo, "the server asks this worker to drain", {{"running", held_->running()}});
    Enter(Phase::kDraining, kNever);
    heartbeat_slot_.not_before = parts_.clock.SteadyNow();
}

void WorkerLoop::SendBeats(SteadyPoint now) {
    if (!MaySend(beats_, now)) return;
    std::vector<HeldTasks::Report> beats = held_->TakeBeats(now);
    if (beats.empty()) return;
    std::vector<std::string> texts;
    for (const HeldTasks::Report& beat : beats) {
        texts.insert(texts.end(), beat.texts.begin(), beat.texts.end());
    }
    const Duration timeout = std::max<Duration>(options_.lease / 3, std::chrono::seconds(1));
    Send(beats_,
         {.path = "/api/v1/agent/exchange",
          .body = ExchangeBody(options_.identity, texts, {}),
          .timeout = timeout},
         [this, beats = std::move(beats), now](const WireAnswer& answer) {
             OnBeats(answer, beats, now);
         });
}

// Returns the verdict of each report: that of its last text, with the directives of all.
std::vector<Verdict> WorkerLoop::VerdictsOf(const WireAnswer& answer,
                                            const std::vector<HeldTasks::Report>& reports) {
    const std::vector<Verdict> read = VerdictsFrom(answer.json);
    std::vector<Verdict> verdicts;
    std::size_t at = 0;
    bool drain = false;
    for (const HeldTasks::Report& report : reports) {
        at += report.texts.size();
        // A missing verdict is that of a server which is none of ours.
        verdicts.push_back(at <= read.size() ? read[at - 1] : Verdict{.reason = "no verdict"});
        drain = drain || verdicts.back().drain;
    }
    if (drain) LeaveServer();
    return verdicts;
}

void WorkerLoop::OnBeats(const WireAnswer& answer, std::vector<HeldTasks::Report> beats,
                         SteadyPoint sent_at) {
    if (!answer.error) {
        const std::vector<Verdict> verdicts = VerdictsOf(answer, beats);
        for (std::size_t n = 0; n < beats.size(); ++n) {
            held_->NoteBeat(beats[n], verdicts[n], sent_at);
        }
        return;
    }
    Log(LogLevel::kWarn, "leases are not renewed, tries again",
        {{"attempts", beats.size()}, {"error", answer.error->message}});
    const bool refused = answer.status == 400 || answer.status == 413 || answer.status == 422;
    const SteadyPoint again = parts_.clock.SteadyNow() + answer.pause;
    beats_.not_before = again;
    for (HeldTasks::Report& beat : beats) held_->BeatFailed(std::move(beat), again, refused);
}

ClaimWish WorkerLoop::WishFor(std::size_t free, Duration wait) const {
    return {.max = std::min<std::size_t>(free, model::kMaxClaim),
            .lease = options_.lease,
            .wait = wait};
}

void WorkerLoop::SendEnds(SteadyPoint now) {
    if (!MaySend(ends_, now)) return;
    std::vector<HeldTasks::Report> reports = held_->TakeEnds(one_by_one_ ? 1 : kMostReports);
    if (reports.empty()) return;
    std::vector<std::string> texts;
    for (const HeldTasks::Report& report : reports) {
        texts.insert(texts.end(), report.texts.begin(), report.texts.end());
    }
    // The freed slots are filled by the same call, unless a poll waits already.
    const std::size_t free = held_->Free();
    const bool claims = Claims() && !claim_.busy && claim_.not_before <= now && free > 0;
    std::optional<ClaimWish> wish;
    if (claims) wish = WishFor(free, Duration::zero());
    // Keeps a poll from claiming for the same slots.
    if (claims) claim_.busy = true;
    Send(ends_,
         {.path = "/api/v1/agent/exchange",
          .body = ExchangeBody(options_.identity, texts, wish),
          .timeout = kCallTimeout},
         [this, reports = std::move(reports), claims, now](const WireAnswer& answer) {
             OnEnds(answer, reports, claims, now);
         });
}

void WorkerLoop::OnEnds(const WireAnswer& answer, const std::vector<HeldTasks::Report>& reports,
                        bool claimed, SteadyPoint sent_at) {
    if (claimed) claim_.busy = false;
    if (answer.error) return EndsFailed(answer, reports);
    const std::vector<Verdict> verdicts = VerdictsOf(answer, reports);
    for (std::size_t n = 0; n < reports.size(); ++n) held_->NoteEnd(reports[n], verdicts[n]);
    one_by_one_ = false;
    if (!claimed) return;
    Begin(answer.json, sent_at);
    if (BeatAnswerFrom(answer.json).drain) DrainAsAsked();
}

void WorkerLoop::EndsFailed(const WireAnswer& answer,
                            const std::vector<HeldTasks::Report>& reports) {
    const bool refused = answer.status == 400 || answer.status == 413 || answer.status == 422;
    if (refused && reports.size() == 1) {
        held_->EndRefused(reports[0], answer.error->Describe());
        one_by_one_ = false;
        return;
    }
    one_by_one_ = refused;  // to find the one that is refused
    for (const HeldTasks::Report& report : reports) held_->EndFailed(report);
    if (IsExpelled(answer)) return;
    if (!refused) ends_.not_before = parts_.clock.SteadyNow() + answer.pause;
    Log(LogLevel::kWarn, "reports are not accepted, tries again",
        {{"reports", reports.size()}, {"error", answer.error->message}});
}

void WorkerLoop::SendClaim(SteadyPoint now) {
    if (!Claims() || !MaySend(claim_, now)) return;
    const std::size_t free = held_->Free();
    if (free == 0) return;
    const Duration wait = std::min(options_.wait, options_.lease * 2 / 3);
    Send(claim_,
         {.path = "/api/v1/agent/claim",
          .body = ClaimBody(options_.identity, WishFor(free, wait)),
          .timeout = wait + kPollSlack},
         [this, now, wait](const WireAnswer& answer) { OnClaimed(answer, now, wait); });
}

void WorkerLoop::OnClaimed(const WireAnswer& answer, SteadyPoint sent_at, Duration waited) {
    const SteadyPoint now = parts_.clock.SteadyNow();
    if (!answer.error && BeatAnswerFrom(answer.json).drain) return DrainAsAsked();
    if (!answer.error) {
        // An empty answer long before its time: the server is about to stop.
        const bool nothing = answer.json.At("/runs").Items().empty();
        if (nothing && now - sent_at < waited / 2) LeaveServer();
        return Begin(answer.json, sent_at);
    }
    if (std::exchange(claim_.cancelled, false)) return;
    if (IsExpelled(answer)) return;
    claim_.not_before = now + answer.pause;
    Log(LogLevel::kWarn, "no claim, tries again",
        {{"error", answer.error->message},
         {"in_ms", std::chrono::floor<std::chrono::milliseconds>(answer.pause).count()}});
}

void WorkerLoop::Begin(const codec::Json& answer, SteadyPoint sent_at) {
    const bool too_late = parts_.clock.SteadyNow() - sent_at >= options_.lease;
    for (Claimed& claimed : ClaimedFrom(answer, parts_.clock.Now())) {
        const model::Run& run = claimed.attempt->run;
        if (phase_ != Phase::kServing || too_late) {
            held_->GiveBack(std::move(claimed));
            continue;
        }
        Log(LogLevel::kInfo, "attempt started",
            {{"run_id", run.id.ToString()},
             {"trace_id", model::TraceIdOf(run)},
             {"span_id", model::AttemptSpanText(run)},
             {"job_id", run.job_id},
             {"kind", model::NameOf(run.kind)},
             {"type", run.type},
             {"attempt", run.status.attempt}});
        engine::Executor* const executor = ExecutorFor(run);
        held_->Start(std::move(claimed), executor, sent_at);
    }
}

engine::Executor* WorkerLoop::ExecutorFor(const model::Run& run) const {
    for (engine::Executor* const executor : parts_.executors) {
        if (executor->kind() != run.kind) continue;
        const std::vector<std::string> types = executor->types();
        if (types.empty() || std::ranges::find(types, run.type) != types.end()) return executor;
    }
    return nullptr;
}

// A poll at a server that was left answers nothing soon.
void WorkerLoop::DropStalePoll() {
    const bool polls = claim_.busy && claim_.id != 0 && !ends_.busy;
    if (!polls || claim_.turn == parts_.wire.turns()) return;
    if (!std::exchange(claim_.cancelled, true)) parts_.wire.Cancel(claim_.id);
}

void WorkerLoop::LeaveServer() {
    const std::uint64_t before = parts_.wire.turns();
    parts_.wire.Leave();
    if (parts_.wire.turns() != before) return;
    claim_.not_before = parts_.clock.SteadyNow() + kQuiet;  // there is no other server
}

bool WorkerLoop::IsExpelled(const WireAnswer& answer) {
    if (!answer.error) return false;
    // The farewell may overtake a heartbeat, which then comes from a worker that has left.
    if (phase_ == Phase::kLeaving) return true;
    if (answer.status == 409) {
        Fence(answer.error->message);
        return true;
    }
    if (answer.status == 404 && registered_) {
        Log(LogLevel::kWarn, "the server has forgotten this worker, registers again");
        registered_ = false;
        registration_.not_before = parts_.clock.SteadyNow();
        return true;
    }
    return false;
}

void WorkerLoop::Fence(const std::string& why) {
    if (phase_ == Phase::kFenced || phase_ == Phase::kOver) return;
    failure_ = Error(Code::kLeaseLost, "another worker is registered under the name \"" +
                                           options_.identity.name +
                                           "\": this one stops all it runs (" + why + ")");
    Log(LogLevel::kError, "fenced", {{"error", failure_->message}});
    held_->LoseAll();
    Enter(Phase::kFenced, parts_.clock.SteadyNow() + options_.stop_grace);
}

void WorkerLoop::SendFarewell(SteadyPoint now) {
    if (!registered_) return Enter(Phase::kOver, kNever);
    if (!MaySend(farewell_, now)) return;
    Send(farewell_,
         {.method = HttpMethod::kDelete,
          .path = PathOf(options_.identity) +
                  "?incarnation=" + options_.identity.incarnation.ToString(),
          .body = "",
          .timeout = kFarewell},
         [this](const WireAnswer& answer) {
             const bool unheard = answer.status == 0 || answer.status >= 500;
             farewell_.not_before = parts_.clock.SteadyNow() + answer.pause;
             if (answer.error && unheard) return;  // tried again until the time is over
             registered_ = false;
             Enter(Phase::kOver, kNever);
         });
}

}  // namespace ksana::worker

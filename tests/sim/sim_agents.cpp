#include "sim/sim_agents.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/ids/hash.hpp"

namespace ksana::sim {

using model::EventKind;
using model::EventVerdict;
using model::Run;
using model::RunEvent;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// The time between an answer and the next action.
constexpr Duration kMoment = milliseconds(1);

// Returns the end of an attempt as AgentService tells its observer. The checks get it from here.
engine::AttemptEnd EndOf(const Run& run, const model::Event& event, const store::Applied& applied) {
    static const std::string kNoJob;
    return {.run = run, .job_name = kNoJob, .event = event, .applied = applied, .took = {}};
}

}  // namespace

Agent::Agent(World& world, store::Store& store, Targets& targets, RunChecks& runs,
             TaskChecks& tasks, int number, const AgentSettings& settings)
    : world_(world),
      store_(store),
      targets_(targets),
      runs_(runs),
      tasks_(tasks),
      number_(number),
      settings_(settings),
      door_(world, store, settings.door),
      subscription_(store.changes().Subscribe(store::Topic::kTasks, [this](store::Topics) {
          if (!alive_ || works_.size() >= settings_.room) return;
          const bool lost = world_.Chance(settings_.door.lost_wakeups);
          if (lost && !door_.healed()) return;
          asked_at_ = {};
          TurnAt(world_.now() + world_.Between(milliseconds(1), milliseconds(50)));
      })) {}

void Agent::Note(const Run& run, std::string_view what) {
    world_.Note(StoryOf(run), HashText(what, number_),
                [&] { return fmt::format("{}: {} {}", name_, what, run.status.exec_id); });
}

void Agent::Start() {
    if (alive_) return;
    alive_ = true;
    ++life_;
    // Names prove nothing and need not be unique.
    if (name_.empty() || (!settings_.registered && world_.Chance(500))) {
        name_ = fmt::format("agent{}-{}", number_, life_);
    }
    if (settings_.registered) {
        owner_before_ = incarnation_.IsNil() ? "" : model::OwnerName(name_, incarnation_);
        incarnation_ = door_.ids().Next();
        registered_ = false;
    }
    asked_at_ = {};
    TurnAt(world_.now() + kMoment);
}

void Agent::Die() {
    for (const auto& [exec_id, work] : works_) Note(work.run, "dies with");
    alive_ = false;
    works_.clear();
    paused_until_ = {};
}

void Agent::Pause(Duration how_long) {
    if (!alive_ || paused()) return;
    for (const auto& [exec_id, work] : works_) Note(work.run, "is stopped by a signal with");
    paused_until_ = world_.now() + how_long;
    TurnAt(paused_until_);
}

void Agent::Heal() {
    door_.Heal();
    paused_until_ = world_.now();
    const TimePoint soon = world_.now() + seconds(5);
    for (auto& [exec_id, work] : works_) work.done_at = std::min(work.done_at, soon);
    Start();
    TurnAt(world_.now() + kMoment);
}

// A turn that is scheduled earlier stays.
void Agent::TurnAt(TimePoint when) {
    if (turn_at_ && *turn_at_ <= when) return;
    turn_at_ = when;
    world_.At(when, [this, turn = ++turn_] {
        if (turn == turn_) Turn();
    });
}

void Agent::Turn() {
    turn_at_.reset();
    if (!alive_ || paused()) return Rest();
    const bool free = door_.Use([this] {
        if (settings_.registered && !Present()) return;
        const bool has_to_say = std::ranges::any_of(works_, [this](const auto& one) {
            return one.second.done_at <= world_.now() || one.second.beat_at <= world_.now();
        });
        if (!has_to_say && world_.Chance(150)) return Claim();
        Exchange();
    });
    if (!free) return TurnAt(world_.now() + milliseconds(100));
    Rest();
}

// Sleeps until there is something to report or to ask for.
void Agent::Rest() {
    if (!alive_) return;
    TimePoint next = TimePoint::max();
    const Duration poll =
        door_.healed() ? std::min(settings_.poll, Duration(seconds(10))) : settings_.poll;
    if (works_.size() < settings_.room) next = asked_at_ + poll;
    for (const auto& [exec_id, work] : works_) {
        next = std::min({next, work.done_at, work.silent ? work.done_at : work.beat_at});
    }
    if (settings_.registered) next = std::min(next, beat_at_);
    TurnAt(std::max({next, paused_until_, world_.now() + kMoment}));
}

// A worker registers and beats before it does anything else. Returns false if it may not go on now.
bool Agent::Present() {
    if (!registered_) return Register();
    if (world_.now() < beat_at_) return true;
    const TimePoint before = world_.store_clock().Now();
    const std::uint64_t life = life_;
    const auto beat = door_.workers().Beat({.worker_id = name_, .incarnation = incarnation_});
    if (!alive_ || life != life_) return false;
    beat_at_ = world_.now() + (beat ? Duration(seconds(30)) : Duration(seconds(2)));
    if (beat) {
        tasks_.workers().Heard(model::OwnerName(name_, incarnation_), before);
        return true;
    }
    if (beat.error().code == Code::kNotFound || beat.error().code == Code::kLeaseLost) {
        registered_ = false;
    }
    return false;
}

bool Agent::Register() {
    const TimePoint before = world_.store_clock().Now();
    const std::uint64_t life = life_;
    tasks_.workers().Registers(name_, incarnation_);
    tasks_.workers().Heard(model::OwnerName(name_, incarnation_), before);
    const auto made = door_.workers().Register({.id = name_,
                                                .incarnation = incarnation_,
                                                .types = settings_.types,
                                                .labels = settings_.labels});
    if (!alive_ || life != life_) return false;
    beat_at_ = world_.now() + (made ? Duration(seconds(30)) : Duration(seconds(2)));
    if (!made) return false;
    registered_ = true;
    CheckOrphans();
    return true;
}

// D-18: once a worker is registered, no attempt of its former incarnation is under way.
void Agent::CheckOrphans() {
    if (owner_before_.empty()) return;
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kRunning);
    query.filter.owner = owner_before_;
    const auto left = store_.runs().List(query);
    if (!left) return;
    for (const Run& run : left->items) tasks_.Orphaned(run);
}

model::AgentClaim Agent::MakeClaim() {
    model::AgentClaim claim;
    claim.worker = name_;
    claim.types = settings_.types;
    claim.labels = settings_.labels;
    claim.max = static_cast<std::int32_t>(settings_.room - works_.size());
    claim.lease = settings_.lease;
    claim.incarnation = settings_.registered ? incarnation_ : Uuid{};
    return claim;
}

void Agent::AddReport(Call& call, Work& work) {
    const std::string& exec_id = work.run.status.exec_id;
    RunEvent report{.run_id = work.run.id, .event = {}};
    if (work.done_at <= world_.now()) {
        report.event = work.report;
        tasks_.Says(exec_id, work.report);
        targets_.Answered(work.run, work.report.kind);
        Note(work.run, model::NameOf(work.report.kind));
        if (world_.Chance(30)) call.reports.push_back(report);  // twice in one call, by mistake
    } else if (!work.silent && work.beat_at <= world_.now()) {
        report.event = {.kind = EventKind::kProgress, .exec_id = exec_id, .lease = settings_.lease};
        report.event.progress = static_cast<std::int32_t>(world_.Below(100));
        work.beat_at = world_.now() + settings_.lease / 3;
        Note(work.run, "heartbeat");
    } else {
        return;
    }
    call.reports.push_back(std::move(report));
}

Agent::Call Agent::MakeCall() {
    Call call{.asked = world_.store_clock().Now(), .reports = {}, .claim = {}};
    for (auto& [exec_id, work] : works_) AddReport(call, work);
    if (works_.size() < settings_.room) {
        asked_at_ = world_.now();
        call.claim = MakeClaim();
    }
    return call;
}

// Without an answer the next call says the same again. Runs of a claim whose outcome is unknown are
// released when their lease ends.
void Agent::Exchange() {
    const Call call = MakeCall();
    if (call.reports.empty() && !call.claim) return;
    const std::uint64_t life = life_;
    const auto answer = door_.agents().Exchange(call.reports, call.claim);
    if (!alive_ || life != life_) return;  // died during the call
    if (!answer) {
        paused_until_ =
            std::max(paused_until_, world_.now() + world_.Between(milliseconds(100), seconds(3)));
        return;
    }
    for (std::size_t n = 0; n < call.reports.size(); ++n) {
        Answered(call, call.reports[n], answer->applied[n]);
    }
    Take(answer->claimed.runs);
    if (answer->claimed.more) asked_at_ = {};
}

// Claims for two agents in one call, as the service does for waiting agents; the second one is gone
// by then and its runs are given back.
void Agent::Claim() {
    if (works_.size() >= settings_.room) return;
    asked_at_ = world_.now();
    const std::uint64_t life = life_;
    const auto claimed = door_.agents().ClaimAll({MakeClaim(), MakeClaim()});
    if (!claimed || !alive_ || life != life_) return;
    for (const Run& run : claimed->at(1).runs) {
        tasks_.Says(run.status.exec_id, {.kind = EventKind::kShutdown});
        Note(run, "was gone before it got");
    }
    Take(claimed->at(0).runs);
    door_.agents().GiveBack(claimed->at(1).runs);
}

void Agent::Answered(const Call& call, const RunEvent& report, const store::Applied& applied) {
    const auto found = works_.find(report.event.exec_id);
    if (found == works_.end()) return;  // the second report of one call
    Work& work = found->second;
    tasks_.Told(work.run, report.event, applied, call.asked);
    if (report.event.kind == EventKind::kProgress) return AnsweredBeat(work, applied);
    runs_.Ended(EndOf(work.run, report.event, applied));
    if (work.reported || !world_.Chance(100)) {
        works_.erase(found);
        return;
    }
    work.reported = true;
    work.silent = true;
    work.done_at = world_.now() + world_.Between(milliseconds(1), settings_.lease * 2);
}

// A careless agent goes on and reports late.
void Agent::AnsweredBeat(Work& work, const store::Applied& applied) {
    if (applied.verdict != EventVerdict::kApplied) {
        work.silent = true;
        if (!world_.Chance(200)) works_.erase(work.report.exec_id);
        return;
    }
    if (!applied.cancel_requested || world_.Chance(200)) return;
    work.report = {.kind = EventKind::kPermanentFailure,
                   .exec_id = work.report.exec_id,
                   .error = "was asked to stop"};
    work.done_at = world_.now();
}

void Agent::CheckAskedFor(const std::vector<Run>& runs) {
    const auto is_its = [this](const Run& run) {
        const auto& types = settings_.types;
        const bool type = types.empty() || std::ranges::find(types, run.type) != types.end();
        return type && run.kind == model::ActionKind::kQueue &&
               std::ranges::all_of(run.selector, [this](const auto& label) {
                   const auto found = settings_.labels.find(label.first);
                   return found != settings_.labels.end() && found->second == label.second;
               });
    };
    for (const Run& run : runs) {
        if (is_its(run) && runs.size() <= settings_.room) continue;
        world_.Fail({.invariant = "I3",
                     .what = fmt::format("{} got what it had not asked for", name_),
                     .job_id = StoryOf(run),
                     .run_id = run.id.ToString()});
    }
}

void Agent::Take(const std::vector<Run>& runs) {
    CheckAskedFor(runs);
    for (const Run& run : runs) {
        Note(run, "has");
        targets_.Arrive(run);
        works_.emplace(run.status.exec_id, Begin(run));
    }
}

Agent::Work Agent::Begin(const Run& run) {
    Work work;
    work.run = run;
    work.beat_at = world_.now() + settings_.lease / 3;
    if (door_.healed()) {
        work.done_at = world_.now() + world_.Between(milliseconds(1), milliseconds(200));
        work.report.kind = EventKind::kSuccess;
    } else {
        DrawEnd(work);
    }
    work.report.exec_id = run.status.exec_id;
    if (work.report.kind == EventKind::kSuccess) {
        work.report.result = fmt::format(R"({{"by":"{}"}})", run.status.exec_id);
        work.report.without_callback = world_.Chance(100);
    } else {
        work.report.error = "by " + run.status.exec_id;
    }
    return work;
}

void Agent::DrawEnd(Work& work) {
    const Duration timeout = work.run.policy.timeout;
    const Duration most = std::max<Duration>(milliseconds(10), timeout - seconds(1));
    work.done_at = world_.now() + world_.Between(milliseconds(5), most);
    work.silent = world_.Chance(200);
    const std::uint64_t dice = world_.Below(100);
    if (dice < 55) {
        work.report.kind = EventKind::kSuccess;
    } else if (dice < 70) {
        work.report.kind = EventKind::kRetryableFailure;
        if (world_.Chance(300)) work.report.after = world_.Between({}, seconds(60));
    } else if (dice < 76) {
        work.report.kind = EventKind::kPermanentFailure;
    } else if (dice < 82) {
        work.report.kind = EventKind::kSnooze;
        work.report.after = world_.Between({}, seconds(60));
    } else if (dice < 88) {
        work.report.kind = EventKind::kShutdown;
    } else {
        DrawBadEnd(work);
    }
}

// Ends after the deadline, stays silent for longer than the lease, or never ends.
void Agent::DrawBadEnd(Work& work) {
    const Duration timeout = work.run.policy.timeout;
    work.report.kind = world_.Chance(800) ? EventKind::kSuccess : EventKind::kRetryableFailure;
    work.silent = world_.Chance(500);
    const Duration least = work.silent ? std::min(timeout, settings_.lease) : timeout;
    work.done_at = world_.now() + world_.Between(least, least * 3);
}

}  // namespace ksana::sim

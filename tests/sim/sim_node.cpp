#include "sim/sim_node.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ksana/base/ids/hash.hpp"
#include "ksana/engine/loop_runner.hpp"

namespace ksana::sim {

using engine::LoopRunner;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// No loop needs more calls in one second of these small worlds.
constexpr int kMaxCallsInSecond = 400;
// A thread that may continue at once still needs a moment.
constexpr Duration kMoment = std::chrono::microseconds(100);

}  // namespace

SimNode::SimNode(World& world, store::Store& store, schedule::ZoneDatabase& zones, Targets& targets,
                 engine::Observer& observer, int number, const NodeSettings& settings)
    : world_(world),
      zones_(zones),
      targets_(targets),
      observer_(observer),
      number_(number),
      name_(fmt::format("node{}", number)),
      settings_(settings),
      clock_(world),
      faults_(world.random().Next()) {
    faults_.Randomly("", settings.faults);
    store_ = store::MakeFaultyStore(store, faults_, [this](Duration delay) { Wait(delay); });
}

SimNode::~SimNode() { Crash(); }

// A slow call of the store: the other actors continue meanwhile, this node does not.
void SimNode::Wait(Duration delay) {
    TimePoint until = world_.now() + delay;
    if (crash_in_call_ && busy_) Crash();
    do {
        world_.As(World::kNobody, [&] { world_.RunUntil(until); });
        until = paused_until_;
    } while (until > world_.now() && !world_.violation());
}

void SimNode::Note(std::string_view what) {
    world_.Note({}, HashText(what, number_), [&] { return fmt::format("{}: {}", name_, what); });
}

void SimNode::After(Duration delay, World::Action action) {
    world_.After(delay, [life = std::weak_ptr(life_), action = std::move(action)] {
        if (!life.expired()) action();
    });
}

void SimNode::Start() {
    if (up()) return;
    life_ = std::make_shared<Life>();
    ++incarnation_;
    Note("starts");
    life_->executor = std::make_shared<SimExecutor>(
        world_, targets_, [this](World::Action action) { Post(std::move(action)); });
    engine::NodeOptions options;
    options.name = name_;
    options.incarnation = fmt::format("{}", incarnation_);
    options.only_one = settings_.only_one;
    options.shared = settings_.shared;
    options.slots = settings_.slots;
    options.least_ahead = settings_.ahead;
    options.most_ahead = std::max(options.most_ahead, settings_.ahead);
    options.lease = settings_.lease;
    options.callbacks = settings_.callbacks;
    options.retention.keep = settings_.keep_runs;
    options.retention.rest = std::chrono::minutes(10);
    life_->node = std::make_unique<engine::Node>(
        *store_, std::vector<engine::Executor*>{life_->executor.get()}, zones_, clock_, options,
        &observer_);
    life_->shells.resize(life_->node->loops().size());
    life_->node->OnWake([this](std::size_t loop) { Wake(loop, kMoment); });
    After(kMoment, [this] { Prepare(); });
}

// Like a server, retries the start as long as the store does not answer.
void SimNode::Prepare() {
    if (busy_ || paused()) return After(milliseconds(100), [this] { Prepare(); });
    life_->node->Open();
    busy_ = true;
    const auto prepared = world_.As(number_, [&] { return life_->node->Prepare(); });
    if (!EndCall()) return;
    if (!prepared) return After(seconds(1), [this] { Prepare(); });
    Subscribe();
    life_->started = true;
    for (std::size_t loop = 0; loop < life_->shells.size(); ++loop) {
        CallAt(loop, world_.now() + kMoment);
    }
}

void SimNode::Subscribe() {
    const auto& loops = life_->node->loops();
    for (std::size_t n = 0; n < loops.size(); ++n) {
        if (loops[n].topics.Empty()) continue;
        life_->subscriptions.push_back(store_->changes().Subscribe(
            loops[n].topics, [this, n](store::Topics topics) { OnCommit(n, topics); }));
    }
}

// The node learns of its own commits at once, and of others a little later, or never.
void SimNode::OnCommit(std::size_t loop, store::Topics topics) {
    const bool own = world_.actor() == number_;
    if (!own && !healed_ && world_.Chance(settings_.lost_wakeups)) return;
    const Duration delay = own ? kMoment : world_.Between(milliseconds(1), milliseconds(50));
    After(delay, [this, loop, topics] {
        Post([this, loop, topics] {
            const auto& hint = life_->node->loops()[loop].hint;
            if (hint && !hint(topics & life_->node->loops()[loop].topics)) return;
            Wake(loop, kMoment);
        });
    });
}

// Does not shorten the pause after an error.
void SimNode::Wake(std::size_t loop, Duration delay) {
    CallAt(loop, std::max(world_.now() + delay, life_->shells[loop].not_before));
}

// Schedules the loop by its last answer and the current clock.
void SimNode::Plan(std::size_t loop) {
    const Shell& shell = life_->shells[loop];
    TimePoint when = shell.latest;
    if (shell.next) when = std::min(when, *shell.next - clock_.error());
    CallAt(loop, std::max({when, shell.not_before, world_.now() + kMoment}));
}

// A call that is scheduled earlier stays.
void SimNode::CallAt(std::size_t loop, TimePoint when) {
    Shell& shell = life_->shells[loop];
    if (shell.call_at && *shell.call_at <= when) return;
    shell.call_at = when;
    const std::uint64_t turn = ++shell.turn;
    After(when - world_.now(), [this, loop, turn] {
        if (life_->shells[loop].turn == turn) Call(loop);
    });
}

// Two loops of a node never run at once: a loop that is due while another waits for the store runs
// later.
void SimNode::Call(std::size_t loop) {
    Shell& shell = life_->shells[loop];
    shell.call_at.reset();
    if (shell.stopped || paused()) return;
    if (busy_) {
        shell.waits_its_turn = true;
        return;
    }
    ++steps_;
    CheckRest(loop);
    busy_ = true;
    const auto step = world_.As(number_, [&] { return life_->node->loops()[loop].run_once(); });
    if (EndCall()) Rest(loop, step);
}

// Returns whether the node is still alive.
bool SimNode::EndCall() {
    busy_ = false;
    if (life_->doomed) {
        faults_.Randomly("", settings_.faults);
        End();
        return false;
    }
    for (std::size_t loop = 0; loop < life_->shells.size(); ++loop) {
        if (std::exchange(life_->shells[loop].waits_its_turn, false)) Wake(loop, kMoment);
    }
    return true;
}

void SimNode::Rest(std::size_t loop, const Result<engine::Step>& step) {
    Shell& shell = life_->shells[loop];
    const TimePoint now = world_.now();
    if (!step) {
        shell.last_answer = "an error";
        shell.backoff =
            std::clamp(shell.backoff * 2, LoopRunner::kFirstBackoff, LoopRunner::kLongestBackoff);
        shell.not_before = now + shell.backoff;
        shell.latest = shell.not_before;
        shell.next.reset();
        shell.call_at.reset();  // wakeups in the meantime wait too
        return Plan(loop);
    }
    shell.backoff = Duration::zero();
    shell.last_answer = step->again ? "again" : step->next ? "at a time" : "after a while";
    // Types change rarely and there is little to purge, so those loops may sleep longer.
    static constexpr std::array<std::string_view, 4> kBusy = {"dispatcher", "starter", "planner",
                                                              "reaper"};
    const bool idle = std::ranges::find(kBusy, life_->node->loops()[loop].name) == kBusy.end();
    const Duration sleep = settings_.longest_sleep * (idle ? 12 : 1);
    // The nodes watch each other every second; in worlds of many days that took most of the time.
    const Duration least =
        life_->node->loops()[loop].name == "nodes" ? settings_.longest_sleep / 30 : Duration();
    const Duration within = std::max(step->within.value_or(sleep), least);
    shell.latest = now + (step->again ? Duration::zero() : within);
    shell.next = step->next;
    Plan(loop);
}

// Nothing polls fast (docs/architecture.md, Threads).
void SimNode::CheckRest(std::size_t loop) {
    Shell& shell = life_->shells[loop];
    const auto second = std::chrono::floor<seconds>(world_.now());
    if (shell.second != second) {
        shell.second = second;
        shell.calls_in_second = 0;
    }
    if (++shell.calls_in_second > kMaxCallsInSecond) {
        world_.Fail({.invariant = "I14",
                     .what = fmt::format("the {} of {} never rests ({} under way, last answer: {})",
                                         life_->node->loops()[loop].name, name_,
                                         life_->node->UnderWay(), shell.last_answer),
                     .job_id = {},
                     .run_id = {}});
    }
}

void SimNode::Post(World::Action action) {
    if (paused()) return kept_.push_back(std::move(action));
    action();
}

// Destroys everything in flight. Calls already sent may still reach their target.
void SimNode::Crash() {
    if (!up() || life_->doomed) return;
    Note(life_->closing ? "is gone" : busy_ ? "crashes in the middle of a call" : "crashes");
    if (!busy_) return End();
    life_->doomed = true;
    life_->executor->Die();
    faults_.Randomly("", {.error_before = 1'000'000});
}

void SimNode::End() {
    life_->executor->Die();
    life_->subscriptions.clear();
    kept_.clear();
    crash_in_call_ = false;
    paused_until_ = {};
    life_.reset();
}

void SimNode::Pause(Duration how_long) {
    if (!up() || paused()) return;
    Note("is stopped by a signal");
    paused_until_ = world_.now() + how_long;
    After(how_long, [this] { Continue(); });
}

void SimNode::Continue() {
    if (paused()) return;
    Note("goes on");
    for (const World::Action& action : std::exchange(kept_, {})) action();
    if (!life_->started) return;
    for (std::size_t loop = 0; loop < life_->shells.size(); ++loop) Wake(loop, kMoment);
}

// Follows Engine::Stop.
void SimNode::Shutdown() {
    if (!up() || life_->closing) return;
    Note("shuts down");
    life_->closing = true;
    life_->node->Close();
    for (std::size_t n = life_->node->dispatchers().size(); n < life_->shells.size(); ++n) {
        if (!life_->node->loops()[n].while_draining) life_->shells[n].stopped = true;
    }
    AwaitIdle(world_.now() + settings_.drain, 0);
}

// Stages: 0 lets attempts finish, 1 has asked them to stop, 2 has given them back.
void SimNode::AwaitIdle(TimePoint deadline, int stage) {
    if (!busy_ && !paused()) {
        if (life_->node->Idle()) return LeaveShares();
        if (world_.now() >= deadline) {
            if (stage == 2) return Crash();
            if (stage == 0) world_.As(number_, [&] { life_->node->StopAll(); });
            if (stage == 1) {
                targets_.limits().Abandon(life_->node->owner());
                world_.As(number_, [&] { life_->node->Abandon(); });
            }
            ++stage;
            deadline = world_.now() + seconds(2);
        }
    }
    After(milliseconds(50), [this, deadline, stage] { AwaitIdle(deadline, stage); });
}

void SimNode::LeaveShares() {
    busy_ = true;
    world_.As(number_, [&] { life_->node->LeaveShares(); });
    if (EndCall()) Crash();
}

// LoopRunner reads the wall clock at least once a second.
void SimNode::SetClock(Duration error) {
    if (clock_.error() == error) return;
    clock_.SetError(error);
    Note(fmt::format("clock error is {} s", std::chrono::duration_cast<seconds>(error).count()));
    if (!up() || !life_->started) return;
    for (std::size_t loop = 0; loop < life_->shells.size(); ++loop) OnClockSet(loop);
}

void SimNode::OnClockSet(std::size_t loop) {
    After(world_.Between({}, Clock::kJumpNotice), [this, loop] {
        if (!paused()) Plan(loop);
    });
}

void SimNode::Heal() {
    healed_ = true;
    faults_.Clear();
    SetClock({});
    if (paused()) {
        paused_until_ = world_.now();
        Continue();
    }
    if (!up()) return Start();
    life_->executor->Heal();
}

}  // namespace ksana::sim

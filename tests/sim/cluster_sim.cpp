#include "sim/cluster_sim.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/hash.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/codec/v1/limit_codec.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"
#include "sim/sim_fires.hpp"
#include "sim/sim_graph.hpp"
#include "sim/sim_node.hpp"
#include "sim/sim_people.hpp"
#include "sim/sim_queue.hpp"
#include "sim/sim_runs.hpp"

namespace ksana::sim {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// How often the whole store is compared with what was committed, over the length of a world.
constexpr int kComparisons = 6;
// How many worlds per thousand have tasks and agents; these take longer.
constexpr std::uint64_t kWithTasks = 500;
// How many of these have a message broker.
constexpr std::uint64_t kWithBroker = 500;

// The kind of world.
struct Settings {
    int nodes = 1;
    Duration length{};
    NodeSettings node;
    PersonSettings person;
    bool store_clock_jumps = false;     // a single node and its store have one clock
    bool quiet_end = false;             // nothing fires after the faults, so nothing wakes a loop
    std::optional<model::Limit> limit;  // of the group "narrow"
    std::optional<QueueSettings> queue;
};

// One world: the store, its nodes and users, the faults and the checks. Runs on one thread.
class Cluster {
  public:
    Cluster(std::uint64_t seed, ClusterPlant plant, std::optional<std::string> story_of)
        : world_(seed, TimePoint(std::chrono::sys_days(std::chrono::year(2026) / 10 / 24)) +
                           hours(seed % 24)),
          plant_(plant),
          with_broker_(MixBits(seed) % 1000 < kWithBroker),
          settings_(Draw()),
          runs_(world_, targets_, [this](const std::string& owner) { return IsAlive(owner); }),
          store_(store_kit::MakeStore(WatchBackend(
                                          store_memory::OpenMemory(world_.store_clock()),
                                          [this](const Commit& commit) { OnCommit(commit); },
                                          PlantInBackend(world_, plant)),
                                      ids_)),
          planted_(PlantInStore(world_, *store_, plant)) {
        if (story_of) world_.RecordStoryOf(*std::move(story_of));
        for (int n = 0; n < settings_.nodes; ++n) {
            nodes_.push_back(std::make_unique<SimNode>(world_, *planted_, zones_, targets_, runs_,
                                                       n, settings_.node));
        }
        for (int n = 0; n < 2; ++n) {
            PersonSettings person = settings_.person;
            person.home = static_cast<int>(world_.Below(nodes_.size()));
            people_.push_back(
                std::make_unique<Person>(world_, *store_, zones_, fires_, runs_, person));
        }
        if (!settings_.queue) return;
        queue_ = std::make_unique<QueueSide>(world_, *store_, *planted_, targets_, runs_,
                                             *settings_.queue);
    }

    ClusterReport Run() {
        const TimePoint start = world_.now();
        Begin();
        for (int n = 1; n <= kComparisons && !world_.violation(); ++n) {
            world_.RunUntil(start + settings_.length * n / kComparisons);
            Compare();
        }
        if (!world_.violation()) Heal();
        ClusterReport report{.violation = world_.violation(),
                             .story = world_.story(),
                             .hash = world_.hash(),
                             .totals = Totals()};
        report.totals.hours =
            std::chrono::duration<double, std::ratio<3600>>(world_.now() - start).count();
        return report;
    }

  private:
    Settings Draw();
    QueueSettings DrawQueue(const Settings& drawn);
    BrokerSettings DrawBroker(const Settings& drawn);
    store::FaultChances DrawFaults();

    // For agents and consumers only the lease counts, whether or not they are alive; not so for
    // workers that were replaced or silent for too long.
    bool IsAlive(const std::string& owner) {
        if (Consumer::IsConsumer(owner)) return true;
        if (Agent::IsAgent(owner)) {
            return !queue_ || !queue_->workers().MayLose(owner, world_.store_clock().Now());
        }
        return std::ranges::any_of(nodes_, [&](const auto& node) { return node->IsOwner(owner); });
    }

    void OnCommit(const Commit& commit) {
        ++totals_.commits;
        fires_.OnCommit(commit);
        runs_.OnCommit(commit);
        for (const model::Document& document : commit.documents) {
            targets_.limits().OnDocument(document);
        }
        graph_.OnCommit(commit);
        if (queue_) queue_->OnCommit(commit);
    }

    void Compare() {
        fires_.CompareWith(*store_);
        runs_.CompareWith(*store_);
    }

    // Stored before any node starts, so that the limit is never exceeded.
    void SetLimits() {
        if (!settings_.limit) return;
        const auto put = store_->settings().Put({.key = "group/narrow",
                                                 .value = codec::LimitToJson(*settings_.limit),
                                                 .expected = {},
                                                 .expires_at = {}});
        KSANA_CHECK(put.has_value(), "the store itself does not fail");
        targets_.limits().Limit("narrow", *settings_.limit, settings_.node.shared);
    }

    void Begin() {
        SetLimits();
        for (const auto& node : nodes_) {
            node->SetClock(settings_.nodes == 1 ? Duration::zero()
                                                : world_.Between(-seconds(5), seconds(5)));
            node->Start();
        }
        for (int n = 0; n < 3; ++n) people_[0]->Create();
        // Mean times between events, as fractions of the life of a world; users act every few
        // fires.
        Often(settings_.person.pace * 6, [this] { people_[world_.Below(2)]->Act(); });
        Often(settings_.length / 8, [this] { CrashOne(); });
        Often(settings_.length / 8, [this] { PauseOne(); });
        Often(settings_.length / 12, [this] { ShutDownOne(); });
        Often(settings_.length / 8, [this] { SetOneClock(); });
        Often(settings_.length / 6,
              [this] { targets_.GoDown(world_.Between(seconds(1), settings_.length / 10)); });
        if (!queue_) return;
        queue_->Begin([this](Duration mean, const World::Action& action) { Often(mean, action); });
    }

    // Repeats `action` at random times until the world heals.
    void Often(Duration mean, const World::Action& action) {
        world_.After(world_.Between({}, mean * 2), [this, mean, action] {
            if (healed_) return;
            action();
            Often(mean, action);
        });
    }

    SimNode& AnyNode() { return *nodes_[world_.Below(nodes_.size())]; }

    // Waits for a node that has not ended yet.
    void StartAgain(SimNode& node) {
        world_.After(world_.Between(milliseconds(500), minutes(3)), [this, &node] {
            if (node.ending()) return StartAgain(node);
            node.Start();
        });
    }

    void CrashOne() {
        SimNode& node = AnyNode();
        if (!node.up() || node.ending()) return;
        ++totals_.crashes;
        if (world_.Chance(400)) {
            node.CrashInCall();
            return CrashLater(node);
        }
        node.Crash();
        StartAgain(node);
    }

    // Crashes between two calls if no call takes long.
    void CrashLater(SimNode& node) {
        world_.After(minutes(2), [this, &node] {
            if (healed_) return;
            if (node.up() && !node.ending()) node.Crash();
            StartAgain(node);
        });
    }

    void PauseOne() {
        SimNode& node = AnyNode();
        if (!node.up() || node.paused()) return;
        ++totals_.pauses;
        node.Pause(world_.Between(seconds(1), settings_.node.lease * 4));
    }

    void ShutDownOne() {
        SimNode& node = AnyNode();
        if (!node.up() || node.ending()) return;
        ++totals_.shutdowns;
        node.Shutdown();
        StartAgain(node);
    }

    void SetOneClock() {
        static constexpr Duration kJumps[] = {hours(1), -hours(1), days(1), -days(1), seconds(90)};
        SimNode& node = AnyNode();
        ++totals_.clock_jumps;
        const bool right_again = world_.Chance(500);
        Duration error = right_again ? Duration::zero() : kJumps[world_.Below(5)];
        // If the store were ahead by a day, the end of the world would have to wait for a day. If
        // it were set back further, jobs would return to a present that is already accounted for
        // (docs/decisions/0012), the one case in which the account is not exact.
        if (settings_.store_clock_jumps) error = std::clamp<Duration>(error, -hours(1), hours(1));
        if (settings_.nodes > 1) error += world_.Between(-seconds(5), seconds(5));
        SetClock(node, error);
    }

    void SetClock(SimNode& node, Duration error) {
        if (settings_.store_clock_jumps) {
            world_.SetStoreClock(error - node.clock_error());
            furthest_ahead_ = std::max(furthest_ahead_, error);
        }
        node.SetClock(error);
    }

    void Heal();
    void HealNodes();
    ClusterTotals Totals() const;

    World world_;
    const ClusterPlant plant_;
    const bool with_broker_;  // if there are tasks; not drawn, so that other worlds stay the same
    const Settings settings_;
    schedule::ZoneDatabase zones_;
    UuidGenerator ids_{world_.store_clock(), world_.random()};
    Targets targets_{world_};
    FireChecks fires_{world_, zones_};
    RunChecks runs_;
    GraphChecks graph_{world_};
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<store::Store> planted_;
    std::vector<std::unique_ptr<SimNode>> nodes_;
    std::vector<std::unique_ptr<Person>> people_;
    std::unique_ptr<QueueSide> queue_;  // null: no tasks in this world
    ClusterTotals totals_;
    Duration furthest_ahead_{};  // of the store's clock
    bool healed_ = false;
};

store::FaultChances Cluster::DrawFaults() {
    if (world_.Chance(200)) return {};
    const auto chance = [this] { return static_cast<std::uint32_t>(world_.Below(20'000)); };
    store::FaultChances faults{.error_before = chance(),
                               .error_after = chance(),
                               .delay = chance(),
                               .duplicate = chance()};
    // Mostly hiccups, sometimes longer than a lease.
    faults.longest_delay = world_.Chance(300) ? Duration(minutes(1)) : Duration(seconds(1));
    return faults;
}

Settings Cluster::Draw() {
    Settings drawn;
    drawn.nodes = 1 + static_cast<int>(world_.Below(4));
    const std::uint64_t kind = world_.Below(10);
    if (kind < 7) {
        drawn.length = world_.Between(minutes(10), minutes(30));
        drawn.person.pace = world_.Between(seconds(5), seconds(30));
    } else if (kind < 9) {
        drawn.length = world_.Between(hours(1), hours(3));
        drawn.person.pace = minutes(1);
        drawn.node.longest_sleep = seconds(30);
    } else {
        drawn.length = world_.Between(days(1), days(3));
        drawn.person.pace = minutes(15);
        drawn.node.longest_sleep = minutes(5);
    }
    drawn.person.faults = DrawFaults();
    drawn.node.faults = DrawFaults();
    drawn.node.slots = 1 + world_.Below(6);
    if (world_.Below(2) == 0) drawn.node.ahead = std::chrono::milliseconds(world_.Below(3000));
    drawn.node.lease = world_.Between(seconds(10), seconds(30));
    // Heartbeats follow the lease; they would take most of the time of a world of days.
    if (kind == 9) drawn.node.lease *= 3;
    drawn.node.drain = world_.Between({}, seconds(8));
    drawn.node.keep_runs = world_.Chance(250) ? drawn.length / 2 : Duration::zero();
    drawn.node.lost_wakeups = world_.Chance(200) ? 1000 : world_.Below(200);
    drawn.node.only_one = drawn.nodes == 1;
    drawn.node.shared = drawn.nodes > 1;
    drawn.store_clock_jumps = drawn.nodes == 1 && world_.Chance(500);
    drawn.quiet_end = world_.Chance(400) || drawn.store_clock_jumps;
    if (world_.Chance(600)) {
        drawn.limit.emplace();
        const std::uint64_t how = world_.Below(3);
        if (how != 0) drawn.limit->max_concurrency = 1 + static_cast<int>(world_.Below(3));
        if (how != 1)
            drawn.limit->rate = model::Rate{.count = 1 + static_cast<int>(world_.Below(5))};
    }
    if (world_.Chance(kWithTasks)) {
        drawn.queue = DrawQueue(drawn);
        drawn.node.callbacks = drawn.queue->callbacks;
        drawn.person.types = Clerk::TypeCodes();
    }
    return drawn;
}

// Callbacks end soon, with success or without, once the faults have ended.
QueueSettings Cluster::DrawQueue(const Settings& drawn) {
    QueueSettings queue;
    queue.nodes = drawn.nodes;
    queue.agents = 2 + static_cast<int>(world_.Below(3));
    queue.length = drawn.length;
    queue.pace = drawn.person.pace;
    queue.lost_wakeups = drawn.node.lost_wakeups;
    queue.faults = DrawFaults();
    queue.callbacks.timeout = seconds(5);
    queue.callbacks.retry.interval = world_.Between(seconds(1), seconds(10));
    queue.callbacks.retry.max_interval = minutes(1);
    if (world_.Chance(500)) queue.callbacks.retry.max_retries = static_cast<int>(world_.Below(4));
    // In worlds of days, what looks every few seconds would take most of the time.
    if (drawn.length < hours(4) && with_broker_) queue.broker = DrawBroker(drawn);
    if (queue.broker) queue.broker->node.callbacks = queue.callbacks;
    return queue;
}

// In some worlds only the sweep can find in time what the broker has lost.
BrokerSettings Cluster::DrawBroker(const Settings& drawn) {
    BrokerSettings broker;
    broker.nodes = drawn.nodes;
    broker.consumers = 2 + static_cast<int>(world_.Below(3));
    broker.length = drawn.length;
    broker.pace = drawn.person.pace;
    broker.node.wait =
        world_.Chance(400) ? Duration(hours(12)) : world_.Between(seconds(20), seconds(60));
    broker.node.shared = drawn.nodes > 1;
    broker.node.lost_wakeups = drawn.node.lost_wakeups;
    broker.node.faults = DrawFaults();
    broker.node.faults.late_answer = broker.node.faults.delay;
    broker.node.plant = plant_;
    const auto chance = [this](std::uint64_t most) {
        return static_cast<std::uint32_t>(world_.Below(most));
    };
    broker.faults = {.lose = chance(30),
                     .refuse = chance(30),
                     .unknown = chance(30),
                     .repeat = chance(150),
                     .reorder = chance(300),
                     .break_link = chance(6)};
    if (world_.Chance(300)) {
        broker.node.categories = {std::string(BrokerSide::kCategory)};
    } else if (world_.Chance(800)) {
        broker.limit.emplace();
        broker.limit->max_concurrency = 1 + static_cast<int>(world_.Below(2));
    }
    if (broker.limit && broker.node.shared) {
        // What a node claims after it has lost its share is more than the limit allows
        // (docs/limits.md): no call lasts for so long.
        broker.node.never_stops_in_calls = true;
        broker.node.faults.longest_delay =
            std::min<Duration>(broker.node.faults.longest_delay, seconds(1));
    }
    return broker;
}

void Cluster::HealNodes() {
    healed_ = true;
    targets_.Heal();
    for (const auto& person : people_) person->Heal();
    if (queue_) queue_->Heal();
    for (const auto& node : nodes_) {
        if (settings_.store_clock_jumps) SetClock(*node, {});
        node->Heal();
    }
}

// Ends the faults, then the fires. Waits for runs that a clock ahead of time has put off.
void Cluster::Heal() {
    HealNodes();
    // A node that was shutting down gets time to end, and is started again.
    world_.RunUntil(world_.now() + seconds(30));
    for (const auto& node : nodes_) node->Start();
    if (settings_.quiet_end) people_[0]->PauseAll();
    const Duration net = settings_.node.longest_sleep;
    runs_.ExpectPunctual(world_.store_clock().Now() + furthest_ahead_ + minutes(2));
    world_.RunUntil(world_.now() + furthest_ahead_ + minutes(8) + net);
    if (world_.violation()) return;
    graph_.CheckFinal();
    runs_.CheckFinal(world_.now() - minutes(4));
    fires_.CheckPlannedUpTo(world_.store_clock().Now() - net - seconds(2));
    if (!settings_.quiet_end) people_[0]->PauseAll();
    // The jitter of the last fires is at most half the pace.
    world_.RunUntil(world_.now() + minutes(4) + settings_.person.pace / 2);
    if (world_.violation()) return;
    graph_.CheckFinal();
    runs_.CheckFinal(TimePoint::max());
    Compare();
    for (const auto& node : nodes_) {
        if (node->Idle()) continue;
        world_.Fail({.invariant = "I14",
                     .what = fmt::format("{} holds slots for nothing", node->name()),
                     .job_id = {},
                     .run_id = {}});
    }
}

ClusterTotals Cluster::Totals() const {
    ClusterTotals totals = totals_;
    totals.nodes = settings_.nodes;
    totals.events = world_.events();
    totals.fires = fires_.fires();
    totals.runs = runs_.runs();
    totals.waits = graph_.waits();
    totals.follows = graph_.follows();
    totals.attempts = runs_.attempts();
    totals.lost = runs_.lost();
    totals.released = runs_.released();
    totals.deferred = runs_.deferred();
    totals.fenced_out = targets_.fenced_out();
    for (const auto& node : nodes_) {
        totals.steps += node->steps();
        totals.Count(node->faults());
    }
    for (const auto& person : people_) totals.Count(person->faults());
    if (queue_) queue_->AddTo(totals);
    return totals;
}

}  // namespace

ClusterReport RunClusterSim(std::uint64_t seed, ClusterPlant plant,
                            std::optional<std::string> story_of) {
    return Cluster(seed, plant, std::move(story_of)).Run();
}

}  // namespace ksana::sim

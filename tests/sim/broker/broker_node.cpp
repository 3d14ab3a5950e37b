#include "sim/broker/broker_node.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/engine/broker/broker_publisher.hpp"
#include "ksana/engine/broker/status_listener.hpp"
#include "ksana/engine/limits/limit_shares.hpp"
#include "ksana/engine/limits/limit_source.hpp"
#include "ksana/engine/services/type_cache.hpp"

namespace ksana::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// A thread that may go on at once still needs a moment.
constexpr Duration kMoment = milliseconds(1);
// How often types and limits are read, beside after every change that is heard of.
constexpr Duration kReread = seconds(30);
// Turns in a simulated second; threads that wait for messages need no more.
constexpr int kMostTurnsInSecond = 400;

}  // namespace

// From a start to a crash or the end of a shutdown. Calls that are under way keep it.
struct BrokerNode::Life {
    Life(BrokerNode& node, std::string owner)
        : faults(node.world_.random().Next()),
          broker(node.parts_.broker, node.parts_.news, node.settings_.plant),
          store(store::MakeFaultyStore(node.parts_.store, faults,
                                       [&node](Duration delay) { node.Wait(delay); })),
          types(*store),
          tracker({.node_rate = {}, .breaker = {}, .name = owner, .shared = node.settings_.shared}),
          shares(*store, tracker, node.world_.store_clock(),
                 {.owner = owner,
                  .waiting = [] { return std::map<std::string, std::size_t>(); },
                  .grown = [] {}}),
          limits(tracker, *store, node.world_.store_clock()),
          agents(*store,
                 {.follow_up = engine::MakeCallbackFollowUp(types, node.settings_.callbacks),
                  .limits = &limits}),
          polls(agents, *store, node.world_.store_clock(), {.longest_sleep = seconds(5)}),
          publisher({.categories = node.settings_.categories, .wait = node.settings_.wait},
                    {.broker = broker,
                     .queues = node.parts_.queues,
                     .agents = agents,
                     .polls = polls,
                     .store = *store,
                     .clock = node.world_.store_clock(),
                     .random = node.world_.random()}),
          listener({.broker = broker,
                    .queues = node.parts_.queues,
                    .agents = agents,
                    .clock = node.world_.store_clock(),
                    .random = node.world_.random(),
                    .tell = [this](const std::string& worker, const Uuid& run_id,
                                   const std::string& exec_id, std::string_view directive) {
                        publisher.Tell(worker, run_id, exec_id, directive);
                    }}) {
        faults.Randomly("", node.settings_.faults);
        limits.OnRoom([this] { polls.Notify(); });
        tracker.OnRoom([this] { polls.Notify(); });
    }
    // What is left when the process has died is not given back.
    ~Life() {
        End();
        publisher.Stop();
    }
    void End() {
        over = true;
        broker.Cut();
        faults.Randomly("", {.error_before = 1'000'000});
    }

    store::FaultPlan faults;
    WatchedBroker broker;
    std::unique_ptr<store::Store> store;
    engine::TypeCache types;
    engine::LimitTracker tracker;
    engine::LimitShares shares;
    engine::AgentLimits limits;
    engine::AgentService agents;
    engine::AgentPolls polls;
    engine::BrokerPublisher publisher;
    engine::StatusListener listener;
    store::ChangeFeed::Subscription subscription;
    bool over = false;
    bool busy = false;         // the publisher, the listener or the polls wait for the store
    bool shares_busy = false;  // these have a thread of their own
    bool closing = false;
    bool prepared = false;
    TimePoint read_at{};  // when types and limits are read again
    TimePoint second{};   // to detect a thread that never rests
    int turns_in_second = 0;
};

BrokerNode::BrokerNode(World& world, const Parts& parts, int number,
                       const BrokerNodeSettings& settings)
    : world_(world), parts_(parts), number_(number), settings_(settings) {}

BrokerNode::~BrokerNode() { Crash(); }

std::string BrokerNode::owner() const { return fmt::format("node{}/b{}", number_, incarnation_); }

void BrokerNode::Start() {
    if (up()) return;
    ++incarnation_;
    life_ = std::make_shared<Life>(*this, owner());
    life_->subscription = parts_.store.changes().Subscribe(
        store::Topics::All(), [this](store::Topics topics) { OnCommit(topics); });
    TurnAt(world_.now() + kMoment);
}

// A slow call of the store: the other actors go on meanwhile, and this thread does not.
void BrokerNode::Wait(Duration delay) {
    TimePoint until = world_.now() + delay;
    do {
        world_.As(World::kNobody, [&] { world_.RunUntil(until); });
        until = paused_until_;
    } while (until > world_.now() && !world_.violation());
}

void BrokerNode::OnCommit(store::Topics topics) {
    const bool own = world_.actor() == number_;
    if (!own && !healed_ && world_.Chance(settings_.lost_wakeups)) return;
    if (topics.Has(store::Topic::kDocuments)) life_->read_at = {};
    if (topics.Has(store::Topic::kShares)) life_->shares.Hint();
    TurnAt(world_.now() + (own ? kMoment : world_.Between(kMoment, milliseconds(50))));
}

void BrokerNode::Ring() {
    if (up()) TurnAt(world_.now() + world_.Between(kMoment, milliseconds(20)));
}

// A turn that is scheduled earlier stays.
void BrokerNode::TurnAt(TimePoint when) {
    if (turn_at_ && *turn_at_ <= when) return;
    turn_at_ = when;
    world_.At(when, [this, turn = ++turn_] {
        if (turn == turn_) Turn();
    });
}

void BrokerNode::Turn() {
    turn_at_.reset();
    if (!up()) return;
    if (paused()) return TurnAt(paused_until_);
    const std::shared_ptr<Life> life = life_;
    const auto now = std::chrono::floor<seconds>(world_.now());
    if (life->second != now) life->turns_in_second = 0;
    life->second = now;
    if (++life->turns_in_second > kMostTurnsInSecond) {
        world_.Fail({.invariant = "I14",
                     .what = fmt::format("the broker's threads of {} never rest", owner()),
                     .job_id = {},
                     .run_id = {}});
    }
    TimePoint next = world_.now() + milliseconds(50);
    if (!life->busy) {
        life->busy = true;
        next = world_.As(number_, [&] { return Work(*life); });
        life->busy = false;
    }
    if (life != life_) return;  // it has died meanwhile
    TurnAt(std::max(next, world_.now() + kMoment));
}

// What the threads of a server do, one after the other. Returns when to go on.
TimePoint BrokerNode::Work(Life& life) {
    if (life.read_at <= world_.now() && !life.closing) {
        const bool types = life.types.Refresh().has_value();
        const auto limits = engine::ReadLimits(*life.store);
        if (limits) life.tracker.Configure(*limits);
        life.read_at = world_.now() + (types && limits ? kReread : Duration(seconds(1)));
        life.prepared = life.prepared || (types && limits);
    }
    if (!life.prepared) return life.read_at;  // a server does not start without them
    SteadyPoint next = SteadyPoint::max();
    for (int n = 0; n < 2 && !life.over && !life.closing; ++n) {
        next = life.polls.RunOnce();
        if (!life.over && !life.closing) next = std::min(next, life.publisher.RunOnce());
        if (!life.over && !life.closing) next = std::min(next, life.listener.RunOnce());
    }
    SharesAt(world_.now() + kMoment);
    const Duration most = seconds(5);
    const auto left = next - world_.store_clock().SteadyNow();
    return world_.now() + std::clamp<Duration>(std::chrono::ceil<Duration>(
                                                   std::min<SteadyPoint::duration>(left, most)),
                                               kMoment, most);
}

// On a thread of their own: a store that is slow to claim does not hold them up.
void BrokerNode::SharesAt(TimePoint when) {
    if (!settings_.shared || (shares_at_ && *shares_at_ <= when)) return;
    shares_at_ = when;
    world_.At(when, [this, turn = ++shares_turn_] {
        if (turn == shares_turn_) TurnShares();
    });
}

void BrokerNode::TurnShares() {
    shares_at_.reset();
    if (!up()) return;
    if (paused()) return SharesAt(paused_until_);
    const std::shared_ptr<Life> life = life_;
    if (life->shares_busy) return SharesAt(world_.now() + milliseconds(50));
    life->shares_busy = true;
    const auto step = world_.As(number_, [&] { return life->shares.RunOnce(); });
    life->shares_busy = false;
    if (life != life_) return;
    const Duration within = step ? step->within.value_or(seconds(5)) : Duration(seconds(1));
    SharesAt(world_.now() + std::max(within, kMoment));
}

void BrokerNode::Crash() {
    if (!up()) return;
    AddTo(past_);
    life_->subscription = {};
    life_->End();
    life_.reset();
    paused_until_ = {};
}

void BrokerNode::Pause(Duration how_long) {
    if (!up() || paused()) return;
    if (settings_.never_stops_in_calls && life_->busy) return;
    paused_until_ = world_.now() + how_long;
}

// As the server does: publisher and listener stop, then the shares are given back.
void BrokerNode::Shutdown() {
    if (!up() || paused() || life_->busy || life_->shares_busy) return;
    const std::shared_ptr<Life> life = life_;
    life->closing = true;
    life->busy = life->shares_busy = true;
    world_.As(number_, [&] {
        life->publisher.Stop();
        life->listener.Stop();
        life->shares.Leave();
    });
    if (life == life_) Crash();
}

void BrokerNode::Cut(Duration how_long) {
    if (!up()) return;
    life_->broker.Cut();
    world_.After(how_long, [this, weak = std::weak_ptr(life_)] {
        if (!weak.expired() && !weak.lock()->over) life_->broker.Mend();
    });
}

void BrokerNode::Heal() {
    healed_ = true;
    paused_until_ = std::min(paused_until_, world_.now());
    Start();
    life_->faults.Clear();
    life_->broker.Mend();
    TurnAt(world_.now() + kMoment);
}

void BrokerNode::AddTo(ClusterTotals& totals) const {
    if (&totals != &past_) totals.Add(past_);
    if (!up()) return;
    const auto counts = life_->publisher.counts();
    totals.published += static_cast<std::int64_t>(counts.published);
    totals.republished += static_cast<std::int64_t>(counts.lost);
    totals.Count(life_->faults);
}

}  // namespace ksana::sim

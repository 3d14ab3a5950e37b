#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/engine/node.hpp"
#include "ksana/store/faulty_store.hpp"
#include "sim/sim_target.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// What a world's nodes have in common.
struct NodeSettings {
    std::size_t slots = 4;
    Duration ahead{};  // fires so far ahead become runs
    Duration lease = std::chrono::seconds(30);
    // LoopRunner's; worlds of many days have a longer one, so that they are over soon.
    Duration longest_sleep = std::chrono::seconds(5);
    Duration keep_runs{};  // retention; 0: for ever
    Duration drain = std::chrono::seconds(5);
    std::uint64_t lost_wakeups = 0;  // of a thousand, from other nodes
    bool only_one = false;
    engine::CallbackOptions callbacks;
    store::FaultChances faults;
};

// One node of the cluster: the real engine with a shell around it that does what Engine and
// LoopRunner do, as events of the world instead of threads. It can crash, be stopped and continued
// by a signal, shut down and start again, and have its clock set.
class SimNode {
  public:
    // `store` is what the node sees behind its faults. All must outlive it.
    SimNode(World& world, store::Store& store, schedule::ZoneDatabase& zones, Targets& targets,
            engine::Observer& observer, int number, const NodeSettings& settings);
    ~SimNode();

    void Start();
    // In the middle of a call of the store: that call is still carried out, nothing after it.
    void Crash();
    // The next time that a call of the store takes long.
    void CrashInCall() { crash_in_call_ = true; }
    // SIGSTOP and SIGCONT.
    void Pause(Duration how_long);
    void Shutdown();
    void SetClock(Duration error);
    // Faults end, the clock is right, and it is up.
    void Heal();

    bool up() const { return life_ != nullptr; }
    bool paused() const { return paused_until_ > world_.now(); }
    // In the middle of a call of the store.
    bool busy() const { return busy_; }
    // On its way down.
    bool ending() const { return up() && (life_->closing || life_->doomed); }
    // Nothing under way, and no room kept for anything.
    bool Idle() const { return !up() || life_->node->Idle(); }
    // Whether these leases belong to the life that goes on now.
    bool IsOwner(const std::string& owner) const {
        return up() && !life_->doomed && life_->node->owner() == owner;
    }
    const std::string& name() const { return name_; }
    const store::FaultPlan& faults() const { return faults_; }
    Duration clock_error() const { return clock_.error(); }
    std::int64_t steps() const { return steps_; }

  private:
    struct Shell {
        std::optional<TimePoint> next;     // by the node's clock
        TimePoint latest{};                // true time
        Duration backoff{};                // zero: the last step went well
        TimePoint not_before{};            // pause after an error
        std::optional<TimePoint> call_at;  // the next call that is planned…
        std::uint64_t turn = 0;            // …and its number: others do not count any more
        TimePoint second{};                // to see a loop that never rests
        int calls_in_second = 0;
        std::string_view last_answer = "none";
        bool waits_its_turn = false;  // another loop of the node was in the middle of a call
        bool stopped = false;
    };
    // From a start to a crash or the end of a shutdown.
    struct Life {
        std::shared_ptr<SimExecutor> executor;
        std::unique_ptr<engine::Node> node;
        std::vector<Shell> shells;
        std::vector<store::ChangeFeed::Subscription> subscriptions;
        bool started = false;
        bool closing = false;
        bool doomed = false;  // crashed, but the call that it was in has not come back
    };

    void Wait(Duration delay);
    void Prepare();
    void Subscribe();
    void OnCommit(std::size_t loop, store::Topics topics);
    void Wake(std::size_t loop, Duration delay);
    void Plan(std::size_t loop);
    void OnClockSet(std::size_t loop);
    void CallAt(std::size_t loop, TimePoint when);
    void Call(std::size_t loop);
    bool EndCall();
    void Rest(std::size_t loop, const Result<engine::Step>& step);
    void CheckRest(std::size_t loop);
    void Post(World::Action action);
    void Continue();
    void AwaitIdle(TimePoint deadline, int stage);
    void End();
    // An event of this life only.
    void After(Duration delay, World::Action action);
    void Note(std::string_view what);

    World& world_;
    schedule::ZoneDatabase& zones_;
    Targets& targets_;
    engine::Observer& observer_;
    const int number_;
    const std::string name_;
    const NodeSettings settings_;
    SimClock clock_;
    store::FaultPlan faults_;
    std::unique_ptr<store::Store> store_;
    std::shared_ptr<Life> life_;
    int incarnation_ = 0;
    TimePoint paused_until_{};
    std::vector<World::Action> kept_;  // answers that come while it is stopped
    bool busy_ = false;
    bool crash_in_call_ = false;
    bool healed_ = false;
    std::int64_t steps_ = 0;
};

}  // namespace ksana::sim

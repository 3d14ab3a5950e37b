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

// Settings that all nodes of a world share.
struct NodeSettings {
    std::size_t slots = 4;
    Duration ahead{};  // how far ahead of their time fires become runs
    Duration lease = std::chrono::seconds(30);
    // As in LoopRunner; longer in worlds of many days, so that they finish soon.
    Duration longest_sleep = std::chrono::seconds(5);
    Duration keep_runs{};  // retention; 0: forever
    Duration drain = std::chrono::seconds(5);
    std::uint64_t lost_wakeups = 0;  // per thousand, of notifications from other nodes
    bool only_one = false;
    bool shared = false;
    engine::CallbackOptions callbacks;
    store::FaultChances faults;
};

// One node of the cluster: the real engine inside a shell that does the work of Engine and
// LoopRunner, with events of the world instead of threads. It can crash, be stopped and continued
// by a signal, shut down and start again, and have its clock set. Runs on the world's thread.
class SimNode {
  public:
    // `store` is the store behind the node's own faults. All arguments must outlive the node.
    SimNode(World& world, store::Store& store, schedule::ZoneDatabase& zones, Targets& targets,
            engine::Observer& observer, int number, const NodeSettings& settings);
    ~SimNode();

    void Start();
    // If a call of the store is in progress, that call is completed, and nothing after it.
    void Crash();
    // Crashes in the next slow call of the store.
    void CrashInCall() { crash_in_call_ = true; }
    // SIGSTOP and SIGCONT.
    void Pause(Duration how_long);
    void Shutdown();
    void SetClock(Duration error);
    // Ends faults, corrects the clock and starts the node.
    void Heal();

    bool up() const { return life_ != nullptr; }
    bool paused() const { return paused_until_ > world_.now(); }
    // A call of the store is in progress.
    bool busy() const { return busy_; }
    // The node is shutting down or has crashed in a call.
    bool ending() const { return up() && (life_->closing || life_->doomed); }
    // Nothing is under way and no slot is reserved.
    bool Idle() const { return !up() || life_->node->Idle(); }
    // Returns whether these leases belong to the current life of the node.
    bool IsOwner(const std::string& owner) const {
        return up() && !life_->doomed && life_->node->owner() == owner;
    }
    const std::string& name() const { return name_; }
    const store::FaultPlan& faults() const { return faults_; }
    Duration clock_error() const { return clock_.error(); }
    std::int64_t steps() const { return steps_; }

  private:
    // What a LoopRunner keeps for one loop.
    struct Shell {
        std::optional<TimePoint> next;     // by the node's clock
        TimePoint latest{};                // true time
        Duration backoff{};                // zero: the last step succeeded
        TimePoint not_before{};            // end of the pause after an error
        std::optional<TimePoint> call_at;  // the next scheduled call…
        std::uint64_t turn = 0;            // …and its number: earlier ones are void
        TimePoint second{};                // to detect a loop that never rests
        int calls_in_second = 0;
        std::string_view last_answer = "none";
        bool waits_its_turn = false;  // another loop of the node was in a call
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
        bool doomed = false;  // crashed, but its current call has not returned
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
    void LeaveShares();
    void End();
    // Schedules an event of the current life only.
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
    std::vector<World::Action> kept_;  // answers that arrived while the node was stopped
    bool busy_ = false;
    bool crash_in_call_ = false;
    bool healed_ = false;
    std::int64_t steps_ = 0;
};

}  // namespace ksana::sim

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/model/run/agent.hpp"
#include "sim/sim_door.hpp"
#include "sim/sim_target.hpp"
#include "sim/sim_task_checks.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct AgentSettings {
    Duration poll = std::chrono::seconds(5);  // how often it polls if no notification comes
    Duration lease = std::chrono::seconds(30);
    std::size_t room = 1;            // tasks it works on at once
    std::vector<std::string> types;  // empty: any
    TextMap labels;
    bool registered = false;  // a worker: it registers, beats, and keeps its name over its lives
    DoorSettings door;
};

// A program that fetches tasks and works on them. It sends heartbeats or stays silent; reports
// success or failure, late, twice or never; gives tasks back or snoozes them; mostly stops when
// asked to. It dies, and pauses for longer than its leases. Runs as events of the world, on one
// thread.
class Agent {
  public:
    // All arguments must outlive the agent.
    Agent(World& world, store::Store& store, Targets& targets, RunChecks& runs, TaskChecks& tasks,
          int number, const AgentSettings& settings);

    void Start();
    // The process is gone and reports nothing more. Its successor may have the same name.
    void Die();
    void Pause(Duration how_long);
    // From now on it works fast and well.
    void Heal();
    bool alive() const { return alive_; }
    const store::FaultPlan& faults() const { return door_.faults(); }

    // Returns whether an owner of leases is an agent.
    static bool IsAgent(std::string_view owner) { return owner.starts_with("agent"); }

  private:
    struct Work {
        model::Run run;
        model::Event report;  // at its end
        TimePoint done_at{};
        TimePoint beat_at{};
        bool silent = false;
        // The report was sent; it is sent again as if the answer had been lost.
        bool reported = false;
    };
    // One call of the agent; each report names the attempt it is about.
    struct Call {
        TimePoint asked{};  // by the store's clock
        std::vector<model::RunEvent> reports;
        std::optional<model::AgentClaim> claim;
    };

    bool Present();
    bool Register();
    void CheckOrphans();

    bool paused() const { return world_.now() < paused_until_; }
    void TurnAt(TimePoint when);
    void Rest();
    void Turn();
    Call MakeCall();
    void AddReport(Call& call, Work& work);
    void Exchange();
    void Claim();
    void Answered(const Call& call, const model::RunEvent& report, const store::Applied& applied);
    void AnsweredBeat(Work& work, const store::Applied& applied);
    void Take(const std::vector<model::Run>& runs);
    void CheckAskedFor(const std::vector<model::Run>& runs);
    Work Begin(const model::Run& run);
    void DrawEnd(Work& work);
    void DrawBadEnd(Work& work);
    void Note(const model::Run& run, std::string_view what);
    model::AgentClaim MakeClaim();

    World& world_;
    store::Store& store_;
    Targets& targets_;
    RunChecks& runs_;
    TaskChecks& tasks_;
    const int number_;
    const AgentSettings settings_;
    Door door_;
    store::ChangeFeed::Subscription subscription_;
    std::string name_;
    std::map<std::string, Work> works_;  // by exec_id
    std::optional<TimePoint> turn_at_;
    std::uint64_t turn_ = 0;  // only the turn scheduled last counts
    std::uint64_t life_ = 0;
    TimePoint asked_at_{};
    TimePoint paused_until_{};
    bool alive_ = false;
    // Of a worker.
    bool registered_ = false;
    Uuid incarnation_;
    std::string owner_before_;
    TimePoint beat_at_{};  // when the next heartbeat is due
};

}  // namespace ksana::sim

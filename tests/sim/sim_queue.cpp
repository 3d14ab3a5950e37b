#include "sim/sim_queue.hpp"

namespace ksana::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr int kClerks = 2;

}  // namespace

QueueSide::QueueSide(World& world, store::Store& people, store::Store& agents, Targets& targets,
                     RunChecks& runs, const QueueSettings& settings)
    : world_(world),
      targets_(targets),
      settings_(settings),
      tasks_(world, runs),
      callbacks_(world, tasks_, targets) {
    targets_.OnCallback(
        [this](const engine::ActiveAttempt& attempt) { callbacks_.Arrived(attempt); });
    for (int n = 0; n < kClerks; ++n) {
        ClerkSettings clerk{.pace = settings.pace, .most_tasks = 30, .door = MakeDoor()};
        if (settings.broker) clerk.published = std::string(BrokerSide::kType);
        if (settings.broker) clerk.category = std::string(BrokerSide::kCategory);
        clerks_.push_back(
            std::make_unique<Clerk>(world, people, runs, tasks_, callbacks_, n, clerk));
    }
    for (int n = 0; n < settings.agents; ++n) {
        agents_.push_back(
            std::make_unique<Agent>(world, agents, targets, runs, tasks_, n, MakeAgent()));
    }
    if (!settings.broker) return;
    const BrokerSide::Parts parts{people, agents, targets, runs, tasks_};
    broker_ = std::make_unique<BrokerSide>(world, parts, *settings.broker);
}

DoorSettings QueueSide::MakeDoor() {
    return {.home = static_cast<int>(world_.Below(static_cast<std::uint64_t>(settings_.nodes))),
            .reread = settings_.pace * 6,
            .lost_wakeups = settings_.lost_wakeups,
            .faults = settings_.faults,
            .callbacks = settings_.callbacks};
}

// The first two agents take any task, so that no task waits for an agent that does not exist.
AgentSettings QueueSide::MakeAgent() {
    AgentSettings agent;
    agent.poll = settings_.pace;
    agent.lease = world_.Between(seconds(5), seconds(40));
    agent.room = 1 + world_.Below(4);
    agent.door = MakeDoor();
    agent.registered = agents_.size() % 2 == 1;
    agent.labels = {{"place", agents_.size() % 2 == 0 ? "here" : "there"}};
    const bool any = agents_.size() < 2 || world_.Chance(400);
    const bool limited = settings_.broker && settings_.broker->limit;
    if (any && !limited) return agent;
    for (const std::string& code : Clerk::TypeCodes()) {
        if (limited && code == BrokerSide::kType) continue;
        if (any || world_.Chance(600)) agent.types.push_back(code);
    }
    return agent;
}

void QueueSide::OnCommit(const Commit& commit) {
    tasks_.OnCommit(commit);
    callbacks_.OnCommit(commit);
    if (broker_) broker_->OnCommit(commit);
}

void QueueSide::Begin(const Often& often) {
    clerks_[0]->MakeTypes();
    for (const auto& agent : agents_) agent->Start();
    often(settings_.pace * 3 / 2, [this] { clerks_[world_.Below(kClerks)]->Act(); });
    often(settings_.length / 8, [this] { KillOne(); });
    often(settings_.length / 8, [this] { PauseOne(); });
    often(settings_.length / 6,
          [this] { targets_.ReceiversGoDown(world_.Between(seconds(1), settings_.length / 8)); });
    if (broker_) broker_->Begin(often);
}

// A new agent takes its place.
void QueueSide::KillOne() {
    Agent& agent = AnyAgent();
    if (!agent.alive()) return;
    ++deaths_;
    agent.Die();
    world_.After(world_.Between(milliseconds(500), seconds(60)), [&agent] { agent.Start(); });
}

void QueueSide::PauseOne() {
    ++pauses_;
    AnyAgent().Pause(world_.Between(seconds(1), seconds(100)));
}

void QueueSide::Heal() {
    for (const auto& clerk : clerks_) clerk->Heal();
    for (const auto& agent : agents_) agent->Heal();
    if (broker_) broker_->Heal();
    clerks_[0]->MakeTypes();
    TidyUp();
}

void QueueSide::TidyUp() {
    clerks_[0]->TidyUp();
    world_.After(seconds(10), [this] { TidyUp(); });
}

void QueueSide::AddTo(ClusterTotals& totals) const {
    totals.tasks = tasks_.tasks();
    totals.handed_on = tasks_.handed_on();
    totals.late_reports = tasks_.late();
    totals.held = tasks_.held();
    totals.callbacks = callbacks_.callbacks();
    totals.callback_calls = callbacks_.arrived();
    totals.dead_letters = callbacks_.dead_letters();
    totals.agent_faults = deaths_ + pauses_;
    for (const auto& clerk : clerks_) totals.Count(clerk->faults());
    for (const auto& agent : agents_) totals.Count(agent->faults());
    if (broker_) broker_->AddTo(totals);
}

}  // namespace ksana::sim

#include "sim/sim_totals.hpp"

#include <fmt/core.h>

namespace ksana::sim {

void ClusterTotals::Add(const ClusterTotals& other) {
    nodes += other.nodes;
    hours += other.hours;
    events += other.events;
    steps += other.steps;
    commits += other.commits;
    fires += other.fires;
    runs += other.runs;
    waits += other.waits;
    follows += other.follows;
    attempts += other.attempts;
    lost += other.lost;
    released += other.released;
    deferred += other.deferred;
    fenced_out += other.fenced_out;
    crashes += other.crashes;
    pauses += other.pauses;
    shutdowns += other.shutdowns;
    clock_jumps += other.clock_jumps;
    faults += other.faults;
    tasks += other.tasks;
    handed_on += other.handed_on;
    late_reports += other.late_reports;
    held += other.held;
    callbacks += other.callbacks;
    callback_calls += other.callback_calls;
    dead_letters += other.dead_letters;
    agent_faults += other.agent_faults;
    published += other.published;
    republished += other.republished;
    troubles += other.troubles;
}

void ClusterTotals::Count(const store::FaultPlan& plan) {
    for (const auto kind :
         {store::FaultKind::kErrorBefore, store::FaultKind::kErrorAfter, store::FaultKind::kDelay,
          store::FaultKind::kLateAnswer, store::FaultKind::kDuplicate}) {
        faults += plan.Injected(kind);
    }
}

std::string ClusterTotals::Describe() const {
    return fmt::format(
        "{} nodes, {:.1f} simulated hours, {} steps of loops, {} commits; {} fires ({} after other "
        "jobs), {} runs ({} waited for other jobs), {} "
        "attempts ({} lost, {} given back, {} deferred, {} fenced out at the target); {} tasks "
        "({} attempts taken from agents, {} late reports, {} times held; {} published to a broker, "
        "{} "
        "lost there), {} callbacks ({} calls, "
        "{} dead letters); {} crashes, {} pauses, {} shutdowns, {} clock jumps, {} agents dead or "
        "stopped, {} troubles with the broker, {} faults of the store",
        nodes, hours, steps, commits, fires, follows, runs, waits, attempts, lost, released,
        deferred, fenced_out, tasks, handed_on, late_reports, held, published, republished,
        callbacks, callback_calls, dead_letters, crashes, pauses, shutdowns, clock_jumps,
        agent_faults, troubles, faults);
}

}  // namespace ksana::sim

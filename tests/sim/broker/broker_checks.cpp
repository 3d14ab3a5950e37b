#include "sim/broker/broker_checks.hpp"

#include <fmt/core.h>

#include "ksana/model/run/decide.hpp"

namespace ksana::sim {

using model::Run;

void BrokerChecks::OnCommit(const Commit& commit) {
    for (const model::Document& document : commit.documents) limits_.OnDocument(document);
    for (const Commit::RunChange& change : commit.runs) {
        const Run& run = change.run;
        const model::RunStatus& status = run.status;
        const bool running =
            change.how != Commit::How::kDeleted && status.state == model::RunState::kRunning;
        Follow(run, running);
        if (!running || !model::IsWithBroker(status)) continue;
        if (!status.detail.empty() && !news_.confirmed.contains(status.exec_id)) {
            world_.Fail({.invariant = "I17",
                         .what = fmt::format("attempt {} is noted as published, and the broker has "
                                             "not confirmed it",
                                             status.exec_id),
                         .job_id = StoryOf(run),
                         .run_id = run.id.ToString()});
        }
    }
}

// What a claim brought whose answer got lost is never published, and ends with its time.
void BrokerChecks::Follow(const Run& run, bool running) {
    const model::RunStatus& status = run.status;
    auto claimed = claimed_.find(run.id);
    if (claimed != claimed_.end() && (!running || claimed->second.exec_id != status.exec_id)) {
        limits_.End(claimed->second.exec_id);
        claimed_.erase(claimed);
        claimed = claimed_.end();
    }
    if (!running || run.type != type_) return;
    const bool with_broker = model::IsWithBroker(status);
    if (claimed == claimed_.end()) {
        if (!with_broker) return;  // an agent has fetched it
        claimed =
            claimed_.emplace(run.id, Claimed{status.exec_id, owner_of_(world_.actor())}).first;
        limits_.ClaimTask(claimed->second.owner, run);
    }
    // A lease that was over and goes on, as no reaper was there, is counted by nobody.
    if (claimed->second.counted) ForgetExpired();
    claimed->second.expires = model::ExpiresAt(run).value_or(TimePoint::max());
    if (claimed->second.counted || (with_broker && status.detail.empty())) return;
    ForgetExpired();
    claimed->second.counted = true;
    limits_.BeginTask(run.type, run);
}

// Whoever is silent for longer than its lease does not count any more, reaped or not.
void BrokerChecks::ForgetExpired() {
    const TimePoint now = world_.store_clock().Now();
    for (const auto& [id, claimed] : claimed_) {
        if (claimed.expires < now) limits_.End(claimed.exec_id);
    }
}

}  // namespace ksana::sim

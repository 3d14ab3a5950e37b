#include <fmt/core.h>

#include "ksana/engine/agents/agent_polls.hpp"

// The part of AgentPolls that only registered workers need.

namespace ksana::engine {
namespace {

// Claims in one transaction.
constexpr std::size_t kMaxNamed = 256;
// Waiting runs that are read to learn which workers they name, and workers that are looked after
// though no such run names them.
constexpr std::size_t kNamingRuns = 200;
constexpr std::size_t kNamingLook = 1'000;
constexpr std::size_t kInTurn = 16;

}  // namespace

// The jobs that a worker needs to carry out these runs.
Result<std::vector<model::Job>> AgentPolls::JobsOf(const std::vector<model::Run>& runs) {
    std::set<std::string> ids;
    for (const model::Run& run : runs) {
        const bool needed = run.kind != model::ActionKind::kQueue && !run.job_id.empty();
        if (needed) ids.insert(run.job_id);
    }
    if (ids.empty()) return std::vector<model::Job>();
    return store_.jobs().GetMany({ids.begin(), ids.end()});
}

// Answers the polls of workers that were replaced, forgotten or told to drain.
void AgentPolls::Recheck() {
    if (options_.workers == nullptr || !workers_wait_) return;
    const std::uint64_t version = options_.workers->version();
    if (std::exchange(checked_, version) == version) return;
    std::vector<std::pair<std::string, Uuid>> waiting;
    {
        const MutexLock lock(mutex_);
        for (const auto& [key, group] : groups_) {
            for (const Waiting& one : group) {
                const model::AgentClaim& claim = one.poll.claim;
                if (IsWorker(claim)) waiting.emplace_back(claim.worker, claim.incarnation);
            }
        }
    }
    std::map<std::pair<std::string, Uuid>, Standing> bad;
    for (const auto& [name, incarnation] : waiting) {
        const auto standing = options_.workers->Check(name, incarnation);
        if (!standing) {
            checked_ = version - 1;  // the store failed: again the next time
            return;
        }
        if (*standing != Standing::kServing) bad[{name, incarnation}] = *standing;
    }
    if (!bad.empty()) AnswerBad(bad);
}

void AgentPolls::AnswerBad(const std::map<std::pair<std::string, Uuid>, Standing>& bad) {
    std::vector<std::pair<Waiting, Standing>> over;
    {
        const MutexLock lock(mutex_);
        for (auto& [key, group] : groups_) {
            for (auto one = group.begin(); one != group.end();) {
                const model::AgentClaim& claim = one->poll.claim;
                const auto found = bad.find({claim.worker, claim.incarnation});
                if (!IsWorker(claim) || found == bad.end()) {
                    ++one;
                    continue;
                }
                over.emplace_back(std::move(*one), found->second);
                one = group.erase(one);
            }
        }
        parked_ -= over.size();
        std::erase_if(groups_, [](const auto& entry) { return entry.second.empty(); });
    }
    for (auto& [one, standing] : over) {
        const std::string& name = one.poll.claim.worker;
        if (standing == Standing::kDraining) {
            one.poll.client->SendDrain();
        } else if (standing == Standing::kReplaced) {
            one.poll.client->Fail(Error(
                Code::kLeaseLost, fmt::format("worker \"{}\" was replaced or has left", name)));
        } else {
            one.poll.client->Fail(
                Error(Code::kNotFound, fmt::format("there is no worker \"{}\"", name)));
        }
    }
}

// Runs that are left may name workers that wait.
Result<bool> AgentPolls::LookForNamed() {
    KSANA_TRY(const auto names, NamedWorkers());
    return ClaimFor(TakeNamed(names), AgentService::Aim::kOwn);
}

// The workers that the newest of the waiting runs name.
Result<std::set<std::string, std::less<>>> AgentPolls::NamedWorkers() {
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kQueued);
    query.limit = kNamingRuns;
    query.look = kNamingLook;
    KSANA_TRY(const store::Page<model::Run> page, store_.runs().List(query));
    std::set<std::string, std::less<>> names;
    for (const model::Run& run : page.items) {
        for (const TextMap* labels : {&run.selector, &run.prefer}) {
            const auto named = labels->find(model::kWorkerLabel);
            if (named != labels->end()) names.insert(named->second);
        }
    }
    return names;
}

// The polls of these workers, and of a few others in turn: the runs that name those may be older
// than the ones that were read.
std::vector<AgentPolls::Taken> AgentPolls::TakeNamed(
    const std::set<std::string, std::less<>>& names) {
    std::vector<Taken> taken;
    const MutexLock lock(mutex_);
    std::size_t place = 0;
    std::size_t in_turn = 0;
    for (auto& [key, group] : groups_) {
        for (auto one = group.begin(); one != group.end() && taken.size() < kMaxNamed;) {
            const model::AgentClaim& claim = one->poll.claim;
            if (!IsWorker(claim)) break;  // so are all of its group
            const bool turn = place++ >= named_turn_ && in_turn < kInTurn;
            if (turn) ++in_turn;
            if (!turn && !names.contains(claim.worker)) {
                ++one;
                continue;
            }
            taken.push_back({key, std::move(*one)});
            one = group.erase(one);
        }
    }
    named_turn_ = in_turn < kInTurn ? 0 : named_turn_ + kInTurn;
    return taken;
}

}  // namespace ksana::engine

#include "ksana/engine/workers/worker_service.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/engine/workers/worker_watch.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::engine {
namespace {

using model::AgentClaim;
using model::Worker;
using model::WorkerState;

Error Unknown(const std::string& name) {
    return {Code::kNotFound, fmt::format("there is no worker \"{}\": register it", name)};
}

Error Replaced(const std::string& name) {
    return {Code::kLeaseLost, fmt::format("worker \"{}\" was replaced or has left", name)};
}

// The faults of a claim that asks for more than its worker declared.
std::vector<Problem> FaultsOf(const AgentClaim& claim, const std::vector<model::ActionKind>& kinds,
                              std::string_view why) {
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < claim.kinds.size(); ++i) {
        if (std::ranges::find(kinds, claim.kinds[i]) != kinds.end()) continue;
        problems.push_back({fmt::format("/kinds/{}", i),
                            fmt::format("\"{}\" {}", model::NameOf(claim.kinds[i]), why)});
    }
    return problems;
}

}  // namespace

WorkerService::Shown WorkerService::Show(Worker worker) const {
    const WorkerState state = directory_.StateOf(worker);
    return {std::move(worker), state};
}

Result<WorkerService::Shown> WorkerService::Register(Worker worker) {
    if (auto problems = model::ValidateWorker(worker); !problems.empty()) {
        return Error(std::move(problems));
    }
    KSANA_TRY(worker, store_.workers().Register(std::move(worker), {}));
    directory_.Note(worker);
    if (worker.replaced) {
        const std::string owner = model::OwnerName(worker.id, *worker.replaced);
        KSANA_TRY(const std::size_t lost, WorkerWatch::Reap(store_, {owner}, options_.follow_up));
        Log(LogLevel::kInfo, "a worker was started again under its name",
            {{"worker", worker.id}, {"before", owner}, {"lost_runs", lost}});
    }
    return Show(std::move(worker));
}

Result<WorkerService::Shown> WorkerService::Beat(const store::Heartbeat& beat) {
    KSANA_TRY(Worker worker, store_.workers().Beat(beat));
    directory_.Note(worker);
    return Show(std::move(worker));
}

Result<void> WorkerService::Deregister(const std::string& id, const Uuid& incarnation) {
    KSANA_TRY_VOID(store_.workers().Deregister(id, incarnation));
    if (auto worker = directory_.Find(id); worker && worker->incarnation == incarnation) {
        worker->deregistered = true;
        directory_.Note(*worker);
    }
    KSANA_TRY_VOID(
        WorkerWatch::Reap(store_, {model::OwnerName(id, incarnation)}, options_.follow_up));
    return {};
}

Result<WorkerService::Shown> WorkerService::Drain(const std::string& id, const Actor& by) {
    const model::AuditEvent audit =
        AuditOf(by, {.action = model::audit::kDrainWorker,
                     .resource_type = model::audit::kWorker,
                     .resource_id = id,
                     .tenant = {},
                     .data = codec::AuditDataToJson({{"request_id", by.request_id}})});
    KSANA_TRY(Worker worker, store_.workers().RequestDrain(id, audit));
    directory_.Note(worker);
    return Show(std::move(worker));
}

Result<WorkerService::Shown> WorkerService::Get(const std::string& id) {
    KSANA_TRY(Worker worker, store_.workers().Get(id));
    return Show(std::move(worker));
}

Result<std::vector<model::Run>> WorkerService::RunsOf(const Worker& worker) {
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kRunning);
    query.filter.owner = model::OwnerOf(worker);
    query.limit = kMaxShownRuns;
    KSANA_TRY(store::Page<model::Run> page, store_.runs().List(query));
    return std::move(page.items);
}

Result<store::Page<WorkerService::Shown>> WorkerService::List(const store::ListParams& params) {
    KSANA_TRY(store::Page<Worker> workers, store_.workers().List(params));
    store::Page<Shown> page;
    page.items.reserve(workers.items.size());
    for (Worker& worker : workers.items) page.items.push_back(Show(std::move(worker)));
    page.next = std::move(workers.next);
    return page;
}

Result<Worker> WorkerService::Registered(const AgentClaim& claim) {
    KSANA_TRY(const Standing standing, directory_.Check(claim.worker, claim.incarnation));
    if (standing == Standing::kUnknown) return Unknown(claim.worker);
    if (standing == Standing::kReplaced) return Replaced(claim.worker);
    std::optional<Worker> worker = directory_.Find(claim.worker);
    if (!worker) return Unknown(claim.worker);
    if (directory_.StateOf(*worker) != WorkerState::kDown) return *std::move(worker);
    // It was silent for too long, but a claim is a sign of life too.
    KSANA_TRY(const Shown shown, Beat({.worker_id = claim.worker,
                                       .incarnation = claim.incarnation,
                                       .busy = worker->busy,
                                       .draining = worker->draining,
                                       .now = {}}));
    return shown.worker;
}

Result<bool> WorkerService::Admit(AgentClaim& claim) {
    if (claim.incarnation.IsNil()) {
        auto faults = FaultsOf(claim, {model::ActionKind::kQueue},
                               "is for registered workers: send the incarnation");
        if (!faults.empty()) return Error(std::move(faults));
        if (agents_.Note(claim)) directory_.Wake();
        return true;
    }
    KSANA_TRY(const Worker worker, Registered(claim));
    auto faults = FaultsOf(claim, worker.kinds, "is not among the kinds of the registration");
    if (!faults.empty()) return Error(std::move(faults));
    claim.labels = worker.labels;
    claim.slots = worker.slots;
    if (claim.types.empty()) claim.types = worker.types;
    return !worker.draining && !worker.drain_requested;
}

}  // namespace ksana::engine

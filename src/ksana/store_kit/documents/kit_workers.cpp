#include "ksana/store_kit/documents/kit_workers.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/codec/records/document_codec.hpp"
#include "ksana/store_kit/documents/kit_events.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/runs/kit_runs.hpp"

namespace ksana::store_kit {
namespace {

using model::Document;
using model::Worker;
using store::Topic;

constexpr std::string_view kKind = "worker";
constexpr std::size_t kMaxWorkerId = 500;

Error NoWorker(const std::string& id) {
    return {Code::kNotFound, fmt::format("there is no worker \"{}\"", id)};
}

Error Replaced(const std::string& id) {
    return {Code::kLeaseLost, fmt::format("worker \"{}\" was replaced or has left", id)};
}

Result<void> CheckId(const std::string& id) {
    std::vector<Problem> problems;
    if (id.empty()) problems.push_back({"/id", "must not be empty"});
    CheckText(id, kMaxWorkerId, Path("/id"), problems);
    return Verdict(std::move(problems));
}

Error Late(const std::string& id) {
    return {Code::kLeaseLost,
            fmt::format("worker \"{}\" was replaced: a process that was started later on the same "
                        "host has its name",
                        id)};
}

// Whether a registration was held up, in a stopped server or a cut network, until a successor of
// its process had registered. The clock of one host made both incarnations, so they tell the
// order. A process whose clock was set back is refused as well, until its predecessor is taken for
// dead.
bool ComesLate(const Worker& present, const Worker& worker) {
    if (present.agent || present.deregistered || present.reaped) return false;
    if (present.host != worker.host) return false;
    const auto present_ms = present.incarnation.MadeAtMs();
    const auto worker_ms = worker.incarnation.MadeAtMs();
    return present_ms && worker_ms && *worker_ms < *present_ms;
}

// Takes over what stays when a worker registers again.
void Succeed(const Worker& before, Worker& worker) {
    if (before.agent || before.deregistered) return;
    if (before.incarnation != worker.incarnation) {
        worker.replaced = before.incarnation;
        return;
    }
    worker.registered_at = before.registered_at;
    worker.replaced = before.replaced;
    worker.drain_requested = before.drain_requested;
}

}  // namespace

Result<KitWorkers::Fate> KitWorkers::UpdateRow(Transaction& tx, const std::string& id, TimePoint at,
                                               const Change& change) {
    KSANA_TRY(const std::optional<Document> there, tx.LockDocument(std::string(kKind), id));
    std::optional<Worker> worker;
    if (there) {
        KSANA_TRY(worker, codec::WorkerFromJson(there->body));
    }
    KSANA_TRY(const Fate fate, change(worker, at));
    if (fate == Fate::kDelete) KSANA_TRY_VOID(tx.DeleteDocument(std::string(kKind), id));
    if (fate != Fate::kWrite) return fate;
    const std::int64_t version = there ? there->version + 1 : 1;
    KSANA_TRY_VOID(tx.PutDocument(
        {std::string(kKind), id, version, codec::WorkerToJson(*worker), at, std::nullopt}));
    return fate;
}

Result<void> KitWorkers::Update(const std::string& id, std::optional<TimePoint> now,
                                store::Topics topics, const Change& change) {
    KSANA_TRY_VOID(CheckId(id));
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint at, TimeOf(now, tx));
        KSANA_TRY(const Fate fate, UpdateRow(tx, id, at, change));
        if (fate != Fate::kKeep && !topics.Empty()) tx.Touch(topics);
        return {};
    });
}

Result<Worker> KitWorkers::Register(Worker worker, std::optional<TimePoint> now) {
    const Worker given = worker;
    KSANA_TRY_VOID(Update(worker.id, now, Topic::kWorkers,
                          [&](std::optional<Worker>& row, TimePoint at) -> Result<Fate> {
                              if (row && ComesLate(*row, given)) return Late(given.id);
                              worker = given;
                              worker.registered_at = at;
                              worker.last_heartbeat_at = at;
                              worker.deregistered = false;
                              worker.reaped = false;
                              worker.replaced.reset();
                              if (row) Succeed(*row, worker);
                              row = worker;
                              return Fate::kWrite;
                          }));
    return worker;
}

Result<Worker> KitWorkers::Beat(const store::Heartbeat& beat) {
    Worker worker;
    KSANA_TRY_VOID(Update(beat.worker_id, beat.now, {},
                          [&](std::optional<Worker>& row, TimePoint at) -> Result<Fate> {
                              if (!row) return NoWorker(beat.worker_id);
                              if (row->incarnation != beat.incarnation || row->deregistered) {
                                  return Replaced(beat.worker_id);
                              }
                              row->busy = beat.busy;
                              row->draining = beat.draining;
                              row->reaped = false;
                              // A late heartbeat must not set the time back.
                              row->last_heartbeat_at = std::max(row->last_heartbeat_at, at);
                              worker = *row;
                              return Fate::kWrite;
                          }));
    return worker;
}

Result<void> KitWorkers::Deregister(const std::string& id, const Uuid& incarnation) {
    return Update(id, std::nullopt, Topic::kWorkers,
                  [&](std::optional<Worker>& row, TimePoint) -> Result<Fate> {
                      if (!row) return NoWorker(id);
                      if (row->incarnation != incarnation) return Replaced(id);
                      row->deregistered = true;
                      row->busy = 0;
                      return Fate::kWrite;
                  });
}

Result<Worker> KitWorkers::RequestDrain(const std::string& id,
                                        const std::optional<model::AuditEvent>& audit) {
    KSANA_TRY_VOID(CheckId(id));
    KSANA_TRY_VOID(CheckAudit(audit));
    Worker worker;
    const auto change = [&](std::optional<Worker>& row, TimePoint) -> Result<Fate> {
        if (!row) return NoWorker(id);
        if (row->agent || row->deregistered) {
            const std::string_view why =
                row->agent ? "is an agent: it takes no orders" : "has left";
            return Error(Code::kConflict, fmt::format("\"{}\" {}", id, why));
        }
        row->drain_requested = true;
        worker = *row;
        return Fate::kWrite;
    };
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint at, tx.Now());
        KSANA_TRY_VOID(UpdateRow(tx, id, at, change));
        tx.Touch(Topic::kWorkers);
        return KeepAudit(tx, at, audit);
    }));
    return worker;
}

Result<void> KitWorkers::NoteReaped(const std::string& id, TimePoint last_heartbeat_at) {
    return Update(id, std::nullopt, Topic::kWorkers,
                  [&](std::optional<Worker>& row, TimePoint) -> Result<Fate> {
                      if (!row || row->deregistered || row->reaped) return Fate::kKeep;
                      if (row->last_heartbeat_at != last_heartbeat_at) return Fate::kKeep;
                      row->reaped = true;
                      return Fate::kWrite;
                  });
}

Result<void> KitWorkers::NoteAgents(const std::vector<Worker>& agents,
                                    std::optional<TimePoint> now) {
    KSANA_TRY_VOID(CheckBatch(agents.size(), "/agents"));
    // Rows are locked in the order of their names: two nodes may note the same agents.
    std::vector<const Worker*> order;
    for (const Worker& agent : agents) {
        KSANA_TRY_VOID(CheckId(agent.id));
        order.push_back(&agent);
    }
    std::ranges::sort(order, {}, &Worker::id);
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint at, TimeOf(now, tx));
        for (const Worker* agent : order) {
            const auto note = [&](std::optional<Worker>& row, TimePoint) -> Result<Fate> {
                if (row && !row->agent && !row->deregistered) return Fate::kKeep;
                const bool known = row && row->agent;
                const TimePoint since = known ? row->registered_at : at;
                row = *agent;
                row->agent = true;
                row->registered_at = since;
                row->last_heartbeat_at = at;
                return Fate::kWrite;
            };
            KSANA_TRY_VOID(UpdateRow(tx, agent->id, at, note));
        }
        return {};
    });
}

Result<void> KitWorkers::Forget(const std::string& id) {
    return Update(id, std::nullopt, Topic::kWorkers,
                  [&](std::optional<Worker>& row, TimePoint) -> Result<Fate> {
                      if (!row) return NoWorker(id);
                      return Fate::kDelete;
                  });
}

Result<void> KitWorkers::ForgetSilent(const std::string& id, TimePoint before) {
    return Update(id, std::nullopt, Topic::kWorkers,
                  [&](std::optional<Worker>& row, TimePoint) -> Result<Fate> {
                      const bool old = row && row->last_heartbeat_at < before;
                      return old ? Fate::kDelete : Fate::kKeep;
                  });
}

Result<Worker> KitWorkers::Get(const std::string& id) {
    KSANA_TRY(const Document document, documents_.Get(id));
    return codec::WorkerFromJson(document.body);
}

Result<store::Page<Worker>> KitWorkers::List(const store::ListParams& params) {
    KSANA_TRY(store::Page<Document> documents, documents_.List(params));
    store::Page<Worker> page;
    page.items.reserve(documents.items.size());
    for (const Document& document : documents.items) {
        auto worker = codec::WorkerFromJson(document.body);
        if (!worker) return std::move(worker).error().WithContext("worker " + document.key);
        page.items.push_back(*std::move(worker));
    }
    page.next = std::move(documents.next);
    return page;
}

}  // namespace ksana::store_kit

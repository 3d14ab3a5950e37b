#pragma once

#include <optional>

#include "ksana/base/result.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/model/run.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What people do with runs, whichever door they come through. What is done is kept in the same
// transaction as the audit event of who did it. Thread-safe.
class RunDesk {
  public:
    // What is given must outlive it.
    RunDesk(store::Store& store, UuidGenerator& ids) : store_(store), ids_(ids) {}

    // A run that has not started is cancelled at once; one that runs stays so until its owner,
    // who is told, has stopped it. Asking again changes nothing. kConflict: it is over.
    Result<model::Run> Cancel(const Uuid& id, const Actor& by = {});

    // Runs again what did not succeed. One that is held goes on as itself, with its retries anew.
    // A final one is never left, so a new run is made with the same parameters, the policy its job
    // gave it and the old one as its parent; it starts beside the schedule, as a RunNow does.
    // kConflict: it succeeded, is not over, or its job is gone. With `new_id` a second call finds
    // the run of the first.
    Result<model::Run> Retry(const Uuid& id, std::optional<Uuid> new_id, const Actor& by = {});

    // Deletes a run that is over, with its attempts; the ledger keeps that its fire was there.
    // kConflict: it is not over.
    Result<void> Delete(const Uuid& id, const Actor& by = {});

  private:
    Result<model::Run> Apply(const Uuid& id, model::EventKind kind, model::AuditEvent audit);
    Result<model::Run> Again(const model::Run& old, const Uuid& new_id, const Actor& by);

    store::Store& store_;
    UuidGenerator& ids_;
};

}  // namespace ksana::engine

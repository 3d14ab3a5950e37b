#pragma once

#include <cstdint>
#include <optional>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What people do with runs, whichever door they come through. What is done is kept in the same
// transaction as the audit event of who did it. Thread-safe.
class RunService {
  public:
    // What is given must outlive it.
    RunService(store::Store& store, UuidGenerator& ids) : store_(store), ids_(ids) {}

    // A run that has not started is cancelled at once; one that runs stays so until its owner,
    // who is told, has stopped it. Asking again changes nothing. kConflict: it is over.
    Result<model::Run> Cancel(const Uuid& id, const Actor& by = {});

    // Runs again what did not succeed. One that is held goes on as itself, with its retries anew.
    // A final one is never left, so a new run is made with the same parameters, the policy its job
    // gave it and the old one as its parent; it starts beside the schedule, as a RunNow does.
    // kConflict: it succeeded, is not over, or its job is gone. With `new_id` a second call finds
    // the run of the first.
    Result<model::Run> Retry(const Uuid& id, std::optional<Uuid> new_id, const Actor& by = {});

    // Sends dead letters again, callbacks that are held, each as itself and with its retries anew:
    // those of a type and a tenant where these are named, the oldest first, about
    // kMostRedelivered. `more`: there may be more.
    struct RedeliverWish {
        std::string type;
        std::string tenant;
    };
    struct Redelivered {
        std::int64_t callbacks = 0;
        bool more = false;
    };
    static constexpr std::int64_t kMostRedelivered = 1'000;
    Result<Redelivered> Redeliver(const RedeliverWish& wish, const Actor& by = {});

    // Deletes a run that is over, with its attempts; the ledger keeps that its fire was there.
    // kConflict: it is not over.
    Result<void> Delete(const Uuid& id, const Actor& by = {});

    // Deletes runs that ended before a time, the oldest first, in small batches so that firing goes
    // on; at most kMostPurged, with `more` where there are more. The audit event is kept with the
    // first batch. A dry run only counts, up to kMostCounted.
    struct PurgeWish {
        TimePoint finished_before{};
        model::RunStates states = model::kAllStates;
        bool dry_run = false;
    };
    struct Purged {
        std::int64_t runs = 0;
        bool more = false;
    };
    static constexpr std::int64_t kMostPurged = 10'000;
    static constexpr std::int64_t kMostCounted = 100'000;
    Result<Purged> Purge(const PurgeWish& wish, const Actor& by = {});

    // Manual work (T-08, T-09). What is held is closed with a remark, or goes on as itself with its
    // retries anew; what waits can be held. kConflict with the reason in any other state. A run
    // whose callback is a dead letter can be closed, too, and that ends the callback.
    Result<model::Run> Resolve(const Uuid& id, const std::string& remark, const Actor& by = {});
    Result<model::Run> SendBack(const Uuid& id, const std::string& remark, const Actor& by = {});
    Result<model::Run> Hold(const Uuid& id, const std::string& remark, const Actor& by = {});

  private:
    struct Act {
        model::EventKind event;
        std::string_view word;                // of the audit
        std::optional<model::RunState> done;  // asking again changes nothing
    };
    Result<model::Run> ByHand(const Uuid& id, const Act& act, const std::string& remark,
                              const Actor& by);
    Result<void> CloseHeldCallbacks(const model::Run& run, const Actor& by);
    Result<model::Run> Apply(const Uuid& id, model::Event event, model::AuditEvent audit);
    Result<model::Run> Again(const model::Run& old, const Uuid& new_id, const Actor& by);

    store::Store& store_;
    UuidGenerator& ids_;
};

}  // namespace ksana::engine

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Cancels, retries, resolves and deletes runs for all APIs. Every change is stored with its audit
// event in one transaction. Owned by the server. Thread-safe; calls run on the caller's thread.
// kNotFound: no such run. The store's errors are returned.
class RunService {
  public:
    // Hears of runs that go on after their cancel was asked for. Called by any thread.
    using CancelAsked = std::function<void(const model::Run&)>;

    // `store`, `ids` and `observer` must outlive the service. `observer` may be null.
    RunService(store::Store& store, UuidGenerator& ids, Observer* observer = nullptr,
               CancelAsked cancel_asked = {})
        : store_(store), ids_(ids), observer_(observer), cancel_asked_(std::move(cancel_asked)) {}

    // Cancels a run. One that has not started is cancelled at once. A running one stays running
    // until its owner, which is notified, has stopped it. Idempotent. kConflict: the run is over.
    Result<model::Run> Cancel(const Uuid& id, const Actor& by = {});

    // Runs again a run that did not succeed. A held run continues under its id with fresh retries.
    // A final state is never left, so a final run is copied into a new run with the same parameters
    // and policy and the old run as parent; it starts outside the schedule, like RunNow. kConflict:
    // the run succeeded or is not over, its job is gone, or another run holds its unique key. With
    // `new_id`, a second call returns the run of the first.
    Result<model::Run> Retry(const Uuid& id, std::optional<Uuid> new_id, const Actor& by = {});

    // Sends dead letters (held callbacks) again, each under its id and with fresh retries, oldest
    // first. Empty `type` or `tenant`: any. Stops after about kMostRedelivered; `more` then says
    // that there may be more.
    struct RedeliverParams {
        std::string type;
        std::string tenant;
    };
    struct Redelivered {
        std::int64_t callbacks = 0;
        bool more = false;
    };
    static constexpr std::int64_t kMostRedelivered = 1'000;
    Result<Redelivered> Redeliver(const RedeliverParams& wish, const Actor& by = {});

    // Deletes a finished run and its attempts. The ledger records its fire as deleted. kConflict:
    // the run is not over.
    Result<void> Delete(const Uuid& id, const Actor& by = {});

    // Deletes runs that finished before a time, oldest first, in small batches so that firing
    // continues. Stops at kMostPurged and then sets `more`. The audit event is stored with the
    // first batch. A dry run only counts, up to kMostCounted.
    struct PurgeRunsParams {
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
    Result<Purged> Purge(const PurgeRunsParams& wish, const Actor& by = {});

    // Manual work (T-08, T-09). Resolve closes a held run with a remark, SendBack lets it continue
    // under its id with fresh retries, and Hold sets aside a waiting run. Resolve also closes a run
    // whose callback is a dead letter, which ends the callback. kConflict, with the reason, in any
    // other state.
    Result<model::Run> Resolve(const Uuid& id, const std::string& remark, const Actor& by = {});
    Result<model::Run> SendBack(const Uuid& id, const std::string& remark, const Actor& by = {});
    Result<model::Run> Hold(const Uuid& id, const std::string& remark, const Actor& by = {});

  private:
    struct Act {
        model::EventKind event;
        std::string_view word;  // of the audit event
        // The state in which the call is a no-op; none: it never is.
        std::optional<model::RunState> done;
    };
    Result<model::Run> ByHand(const Uuid& id, const Act& act, const std::string& remark,
                              const Actor& by);
    Result<void> CloseHeldCallbacks(const model::Run& run, const Actor& by);
    Result<model::Run> Apply(const Uuid& id, model::Event event, model::AuditEvent audit);
    Result<model::Run> Again(const model::Run& old, const Uuid& new_id, const Actor& by);

    store::Store& store_;
    UuidGenerator& ids_;
    Observer* const observer_;
    const CancelAsked cancel_asked_;
};

}  // namespace ksana::engine

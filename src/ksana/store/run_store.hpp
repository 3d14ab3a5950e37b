#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/run_query.hpp"

namespace ksana::store {

// Items in one call of any batch; more are refused.
inline constexpr std::size_t kMaxBatch = 10'000;
inline constexpr std::size_t kMaxPayload = 1 << 20;
inline constexpr std::size_t kMaxText = 4'000;  // of any other text of a run

// A run that can start at once may be stored as started: one commit before it runs instead of two.
struct StartAs {
    std::string owner;
    Duration lease = std::chrono::seconds(30);
    model::ActionKind kind = model::ActionKind::kQueue;  // only runs of this kind
    std::size_t limit = kMaxBatch;                       // at most so many; the rest is queued
    // Also runs that become ready within this. They are stored as started at their time; the owner
    // waits for it.
    Duration ahead{};
};

struct SubmitParams {
    std::optional<TimePoint> now;  // none: the store's clock
    // The store sets created_at and updated_at, draws an id where there is none, and makes a
    // ready_at that is not set (TimePoint{}) its own now. A run whose ready_at has come becomes
    // queued. Other states are refused.
    std::vector<model::Run> runs;  // at most kMaxBatch
    std::optional<StartAs> start;
    // Kept in the same transaction if a run was stored; the store sets `at`.
    std::optional<model::AuditEvent> audit;
    bool want_runs = false;  // as they were stored, in their outcomes
};

enum class SubmitVerdict : std::uint8_t {
    kStored,
    kStarted,   // stored, and running under the owner of `start`
    kSkipped,   // stored as skipped: an earlier run of its job is not over
    kSameKey,   // not stored: `id` holds its unique key
    kSameFire,  // not stored: `id` is the run of that job and nominal time
    kSameId,    // not stored: a run of this id is there (the call was sent twice, or see `other`)
};

struct Submitted {
    SubmitVerdict verdict = SubmitVerdict::kStored;
    Uuid id;                            // of the run that is there
    std::optional<model::Run> started;  // of kStarted, and with want_runs of kStored
    model::RunState state = model::RunState::kScheduled;  // of the run that is there
    bool other = false;  // of kSameId: that one was asked for by another call, with other words
};

struct ClaimFilter {
    model::ActionKind kind = model::ActionKind::kQueue;
    std::vector<std::string> types;       // empty: any
    std::vector<std::string> without;     // not of these types
    std::vector<std::string> categories;  // empty: any
    std::string tenant;                   // empty: any
    std::string creator;                  // empty: any
    TextMap labels;                       // of the worker: a run's selector must be in them
    friend bool operator==(const ClaimFilter&, const ClaimFilter&) = default;
};

// By rank (priority with ageing, then time; model/run/claim_order.hpp), then by id.
struct ClaimParams {
    ClaimFilter filter;
    std::string owner;
    Duration lease = std::chrono::seconds(30);
    std::size_t limit = 1;
};

struct Claimed {
    std::vector<model::Run> runs;  // each with its fresh exec_id
    std::size_t skipped = 0;       // ended as skipped: an earlier run of their job is not over
    bool more = false;             // there may be more: call again
};

struct Applied {
    model::EventVerdict verdict = model::EventVerdict::kNotFound;
    model::RunState state = model::RunState::kScheduled;  // afterwards
    bool cancel_requested = false;                        // the owner is to stop
    model::CallbackWanted callback = model::CallbackWanted::kNone;
    std::string reason;  // of kStale, kRefused and kNotFound
};

// Runs to be stored in the same transaction because of what happened (a callback). Called inside
// the transaction, perhaps more than once: pure, quick, and without a call of the store.
using FollowUp =
    std::function<std::vector<model::Run>(const model::Run& after, model::CallbackWanted callback)>;

// Reports first, then a claim, in one transaction: what a worker does in a loop. Either part may be
// empty.
struct ExchangeParams {
    std::optional<TimePoint> now;
    std::vector<model::RunEvent>
        events;          // at most kMaxBatch; each decided on what the one before left
    FollowUp follow_up;  // may be empty
    std::optional<ClaimParams> claim;
    // Further claims, in order. Those that follow each other with one filter share what there is:
    // the first has the first.
    std::vector<ClaimParams> more_claims;
    // Kept in the same transaction if one of the events was applied; the store sets `at`.
    std::optional<model::AuditEvent> audit;
};

struct Exchanged {
    std::vector<Applied> applied;  // one for each event
    Claimed claimed;
    std::vector<Claimed> more_claimed;  // one for each of more_claims
};

struct ReapParams {
    std::optional<TimePoint> now;
    std::vector<std::string> lost_owners;  // their runs at once, whatever the lease says
    std::size_t limit = 100;
    FollowUp follow_up;
};

struct Reaped {
    std::vector<model::Run> runs;  // as they are now
    bool more = false;
};

struct PurgeParams {
    TimePoint finished_before{};
    model::RunStates states = model::kAllStates;
    std::size_t limit = 1'000;
    // Kept in the same transaction if a run was deleted; the store sets `at`.
    std::optional<model::AuditEvent> audit = std::nullopt;
};

struct DeleteRunParams {
    std::optional<TimePoint> now;
    Uuid id;
    std::optional<model::AuditEvent> audit;  // kept in the same transaction; the store sets `at`
};

// A run with all its attempts, oldest first, the last one included.
struct RunHistory {
    model::Run run;
    std::vector<model::Attempt> attempts;
};

// When there is something to do next; none: nothing is known to come.
struct WakeTimes {
    TimePoint now{};                  // of the store's clock, by which the others are meant
    std::optional<TimePoint> plan;    // the next fire of an enabled job
    std::optional<TimePoint> ready;   // the next scheduled run comes due
    std::optional<TimePoint> expiry;  // the next lease or deadline runs out
    bool queued = false;              // something can be claimed now
};

// Runs, their attempts and the queue they form. Thread-safe. What becomes of a run is decided by
// model/; every change holds only while the run is what the decision was made about.
class RunStore {
  public:
    virtual ~RunStore() = default;

    // One outcome for each run, in order. All of the batch is stored or nothing.
    virtual Result<std::vector<Submitted>> Submit(SubmitParams params) = 0;
    virtual Result<Exchanged> Exchange(ExchangeParams params) = 0;
    // Ends the attempts whose lease or deadline has passed.
    virtual Result<Reaped> Reap(ReapParams params) = 0;
    // Deletes old final runs with their attempts, those first that ended first, whatever their
    // state; how many it were.
    virtual Result<std::size_t> Purge(const PurgeParams& params) = 0;

    // Deletes one final run with its attempts. kConflict: it is not over. Where it was a fire of a
    // job, the ledger says so from then on (model::FireFate::kDeleted).
    virtual Result<void> Delete(DeleteRunParams params) = 0;

    virtual Result<RunHistory> Get(const Uuid& id) = 0;
    virtual Result<Page<model::Run>> List(const RunQuery& query) = 0;
    virtual Result<Counted> CountWithin(const RunFilter& filter, const CountBounds& bounds) = 0;
    // Counts up to `most` and stops there.
    Result<std::int64_t> Count(const RunFilter& filter, std::int64_t most) {
        KSANA_TRY(const Counted counted, CountWithin(filter, {.most = most}));
        return counted.count;
    }
    virtual Result<std::vector<QueueDepth>> Depths() = 0;
    virtual Result<WakeTimes> NextWake() = 0;

    // The halves of Exchange.
    Result<std::vector<Applied>> Apply(std::vector<model::RunEvent> events,
                                       std::optional<TimePoint> now = {},
                                       std::optional<model::AuditEvent> audit = {});
    Result<Claimed> Claim(ClaimParams params, std::optional<TimePoint> now = {});
};

// Whether a run is one of those that are asked for: the meaning that conditions in SQL are held to.
bool Matches(const ClaimFilter& filter, const model::Run& run);

}  // namespace ksana::store

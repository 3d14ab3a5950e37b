#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

// The most items of any batch in one call; more are kInvalidArgument.
inline constexpr std::size_t kMaxBatch = 10'000;
inline constexpr std::size_t kMaxPayload = 1 << 20;
// Bytes of an owner, exec id, note, remark or unique key.
inline constexpr std::size_t kMaxText = 4'000;

// Lets Submit and PlanDue store runs that can start at once as already started: one commit before a
// run starts instead of two.
struct StartAs {
    std::string owner;
    Duration lease = std::chrono::seconds(30);
    model::ActionKind kind = model::ActionKind::kQueue;  // starts only runs of this kind
    std::vector<std::string> types = {};                 // and of these types; empty: any
    std::size_t limit = kMaxBatch;  // starts at most this many; the rest is queued
    // Also starts runs that become ready within this time. They are stored as started at their
    // ready_at, and the owner waits until then.
    Duration ahead{};
};

struct SubmitParams {
    std::optional<TimePoint> now;  // none: the store's clock
    // New runs: their state must be scheduled or queued and their attempt 0. The store sets
    // created_at and updated_at, generates missing ids, replaces an unset ready_at (TimePoint{}) by
    // the current time, and queues runs whose ready_at has come.
    std::vector<model::Run> runs;  // at most kMaxBatch
    std::optional<StartAs> start;
    // Stored in the same transaction, if at least one run is stored; the store sets `at`.
    std::optional<model::AuditEvent> audit;
    bool want_runs = false;  // return the stored runs in Submitted::started
};

enum class SubmitVerdict : std::uint8_t {
    kStored,
    kStarted,   // stored, and running for the owner of `start`
    kSkipped,   // stored as skipped: an earlier run of its job has not ended
    kSameKey,   // not stored: the run `id` holds its unique key
    kSameFire,  // not stored: the run `id` has the same job and nominal time
    kSameId,    // not stored: a run with this id exists (a repeated call, or see `other`)
};

struct Submitted {
    SubmitVerdict verdict = SubmitVerdict::kStored;
    Uuid id;  // of the new run, or of the existing run that kept it from being stored
    std::optional<model::Run> started;  // for kStarted, and with want_runs for kStored
    model::RunState state = model::RunState::kScheduled;  // of the run `id`
    // For kSameId: the existing run differs from the submitted one, so this is not a repeated call.
    bool other = false;
};

struct ClaimFilter {
    model::ActionKind kind = model::ActionKind::kQueue;
    std::vector<std::string> types;       // empty: any
    std::vector<std::string> without;     // excluded types
    std::vector<std::string> categories;  // empty: any
    std::string tenant;                   // empty: any
    std::string creator;                  // empty: any
    TextMap labels;                       // labels of the worker; a run's selector must be a subset
    bool only_selective = false;          // only runs that have a selector
    friend bool operator==(const ClaimFilter&, const ClaimFilter&) = default;
};

// A claim takes matching runs by rank (priority with ageing, then time; model/run/claim_order.hpp),
// then by id.
struct ClaimParams {
    ClaimFilter filter;
    // A run that matches one of these is claimed too: a worker that serves several kinds.
    std::vector<ClaimFilter> others = {};
    std::string owner;
    Duration lease = std::chrono::seconds(30);
    std::size_t limit = 1;
    // Of a registered worker: it gets nothing if its row names another incarnation, or says that it
    // drains or has left. Empty: anybody may claim.
    std::string worker = {};
    Uuid incarnation = {};
};

struct Claimed {
    std::vector<model::Run> runs;  // each with a new exec_id
    // Runs ended as skipped, because an earlier run of their job has not ended.
    std::size_t skipped = 0;
    bool more = false;  // there may be more: call again
};

struct Applied {
    model::EventVerdict verdict = model::EventVerdict::kNotFound;
    model::RunState state = model::RunState::kScheduled;  // after the event
    bool cancel_requested = false;                        // the owner is to stop the attempt
    model::CallbackWanted callback = model::CallbackWanted::kNone;
    std::string reason;    // for kStale, kRefused and kNotFound
    bool goes_on = false;  // kStale: the attempt is not over, another one has it
    // Of the run, and how long the attempt that the event ended has taken, on the store's clock;
    // for kApplied, for those who count.
    model::ActionKind kind = model::ActionKind::kQueue;
    std::string type = {};
    std::optional<Duration> took = {};
    // ExchangeParams::want_runs: the run after the event, if it was applied.
    std::shared_ptr<const model::Run> run = {};
    TimePoint ready_at{};  // with `run`: its ready_at before the event
};

// Returns the runs (a callback) to store in the same transaction because of an event. Called inside
// the transaction, possibly more than once. Must be pure and quick, and must not call the store.
using FollowUp =
    std::function<std::vector<model::Run>(const model::Run& after, model::CallbackWanted callback)>;

// Reports and claims of one worker, done in one transaction: events first, then claims. Either part
// may be empty.
struct ExchangeParams {
    std::optional<TimePoint> now;
    // At most kMaxBatch. Each event is decided on the state that the one before it left.
    std::vector<model::RunEvent> events;
    FollowUp follow_up;      // may be empty
    bool want_runs = false;  // return the runs after the events, but for those of kProgress
    std::optional<ClaimParams> claim;
    // Further claims, served in order. Adjacent claims with equal filters are served by one query,
    // earlier claims first.
    std::vector<ClaimParams> more_claims;
    // Stored in the same transaction, if at least one event is applied; the store sets `at`.
    std::optional<model::AuditEvent> audit;
};

struct Exchanged {
    std::vector<Applied> applied;  // one per event, in order
    Claimed claimed;
    std::vector<Claimed> more_claimed;  // one per member of more_claims
};

struct ReapParams {
    std::optional<TimePoint> now;
    // Their runs are ended although the lease has not expired.
    std::vector<std::string> lost_owners;
    std::size_t limit = 100;
    FollowUp follow_up;
};

struct Reaped {
    std::vector<model::Run> runs;  // after the change
    bool more = false;
};

struct PurgeParams {
    TimePoint finished_before{};
    model::RunStates states = model::kAllStates;
    std::size_t limit = 1'000;
    // Stored in the same transaction, if at least one run is deleted; the store sets `at`.
    std::optional<model::AuditEvent> audit = std::nullopt;
};

struct DeleteRunParams {
    std::optional<TimePoint> now;
    Uuid id;
    std::optional<model::AuditEvent> audit;  // stored in the same transaction; the store sets `at`
};

// A run with all its attempts, oldest first, including the last.
struct RunHistory {
    model::Run run;
    std::vector<model::Attempt> attempts;
};

// When the next work is due; none: nothing is known to come.
struct WakeTimes {
    TimePoint now{};                 // the store's clock, to which the other times refer
    std::optional<TimePoint> plan;   // next fire of an enabled job
    std::optional<TimePoint> ready;  // ready_at of the next scheduled run
    // When the next lease or deadline expires, or a run that waits for other jobs is looked at.
    std::optional<TimePoint> expiry;
    bool queued = false;  // at least one run can be claimed now
};

// The runs, their attempts, and the queue of runs that wait. model::Decide decides every change of
// a run; the store applies it only while the run is still in the state that was decided on. Owned
// by the Store. Thread-safe. Each call is one transaction; after an error nothing has changed
// (store.hpp names the exception). Invalid input is kInvalidArgument.
class RunStore {
  public:
    virtual ~RunStore() = default;

    // Stores new runs and returns one outcome per run, in order. A run that is not stored (kSame…)
    // does not affect the others; after an error none is stored.
    virtual Result<std::vector<Submitted>> Submit(SubmitParams params) = 0;
    // Applies events and claims runs. An event that is stale, refused or unknown does not fail the
    // call; its outcome says so. Starting a run by an event is refused: only a claim starts runs.
    virtual Result<Exchanged> Exchange(ExchangeParams params) = 0;
    // Ends attempts whose lease or deadline has expired, then those of `lost_owners`, at most
    // `limit` of each. Also releases blocked runs whose job has no run under way, looks again at
    // runs that wait for other jobs, and skips those whose wait is over.
    virtual Result<Reaped> Reap(ReapParams params) = 0;
    // Deletes final runs with their attempts, in the order in which they ended, and returns how
    // many.
    virtual Result<std::size_t> Purge(const PurgeParams& params) = 0;

    // Deletes one final run with its attempts. Returns kNotFound if there is no such run, kConflict
    // if it has not ended. If it was a fire of a job, the ledger records the deletion
    // (model::FireFate::kDeleted).
    virtual Result<void> Delete(DeleteRunParams params) = 0;

    // Returns kNotFound if there is no such run.
    virtual Result<RunHistory> Get(const Uuid& id) = 0;
    virtual Result<Page<model::Run>> List(const RunQuery& query) = 0;
    virtual Result<Counted> CountWithin(const RunFilter& filter, const CountBounds& bounds) = 0;
    // Counts matching runs, at most up to `most`.
    Result<std::int64_t> Count(const RunFilter& filter, std::int64_t most) {
        KSANA_TRY(const Counted counted, CountWithin(filter, {.most = most}));
        return counted.count;
    }
    // Returns the number of unfinished runs by kind, type and state.
    virtual Result<std::vector<QueueDepth>> Depths() = 0;
    virtual Result<WakeTimes> NextWake() = 0;

    // The two halves of Exchange.
    Result<std::vector<Applied>> Apply(std::vector<model::RunEvent> events,
                                       std::optional<TimePoint> now = {},
                                       std::optional<model::AuditEvent> audit = {});
    Result<Claimed> Claim(ClaimParams params, std::optional<TimePoint> now = {});
};

// Returns whether a claim with this filter may take the run now. Reference for the SQL conditions
// of the drivers.
bool Matches(const ClaimFilter& filter, const model::Run& run, TimePoint now);

}  // namespace ksana::store

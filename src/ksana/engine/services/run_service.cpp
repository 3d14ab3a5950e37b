#include "ksana/engine/services/run_service.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::engine {

using model::EventKind;
using model::Run;
using model::RunState;

namespace {

constexpr std::int64_t kPurgeBatch = 500;

constexpr std::size_t kMaxRemark = 1'000;  // of an audit event; the run keeps all of it

Error Conflict(const Run& run, std::string_view why) {
    return {Code::kConflict,
            fmt::format("the run is {}: {}", model::NameOf(run.status.state), why)};
}

bool CanBeMadeAgain(RunState state) {
    return model::IsFinal(state) && state != RunState::kSucceeded;
}

// Returns a new run with the same work and none of the old run's outcome.
Run Copy(const Run& old) {
    Run run;
    run.job_id = old.job_id;
    run.tenant = old.tenant;
    run.type = old.type;
    run.category = old.category;
    run.creator = old.creator;
    run.kind = old.kind;
    run.trigger = model::RunTrigger::kManual;
    run.priority = old.priority;
    run.payload = old.payload;
    run.selector = old.selector;
    run.prefer = old.prefer;
    run.prefer_for = old.prefer_for;
    run.unique = old.unique;
    run.parent = old.id;
    run.trace_parent = model::TraceParentForChild(old);
    run.policy = old.policy;
    run.policy.ignores_overlap = true;
    if (old.trigger == model::RunTrigger::kCallback) {  // it still reports on the same run
        run.trigger = old.trigger;
        run.parent = old.parent;
        run.trace_parent = old.trace_parent;
    }
    return run;
}

model::AuditEvent Audit(const Run& run, std::string_view action, const Actor& by,
                        const std::string& new_run = {}, const std::string& remark = {}) {
    return AuditOf(by, {.action = action,
                        .resource_type = model::audit::kRun,
                        .resource_id = run.id.ToString(),
                        .tenant = run.tenant,
                        .data = codec::AuditDataToJson(
                            {{model::audit::kJobId, run.job_id},
                             {model::audit::kNominalAt,
                              run.nominal_at ? FormatTime(*run.nominal_at) : std::string()},
                             {"new_run_id", new_run},
                             {model::audit::kRemark, Excerpt(remark, kMaxRemark)},
                             {"request_id", by.request_id}})});
}

model::AuditEvent RedeliverAudit(const RunService::RedeliverParams& wish, const Actor& by) {
    return AuditOf(by, {.action = model::audit::kRetried,
                        .resource_type = model::audit::kRun,
                        .resource_id = {},
                        .tenant = wish.tenant.empty() ? Run{}.tenant : wish.tenant,
                        .data = codec::AuditDataToJson(
                            {{"callbacks_of_type", wish.type}, {"request_id", by.request_id}})});
}

model::AuditEvent PurgeAudit(const RunService::PurgeRunsParams& wish, const Actor& by) {
    std::string states;
    for (std::size_t i = 0; i < model::kEnumCount<RunState>; ++i) {
        const auto state = static_cast<RunState>(i);
        if (!model::IsFinal(state) || (wish.states & model::SetOf(state)) == 0) continue;
        if (!states.empty()) states += ',';
        states += model::NameOf(state);
    }
    return AuditOf(
        by, {.action = model::audit::kPurged,
             .resource_type = model::audit::kRun,
             .resource_id = {},
             .tenant = Run{}.tenant,
             .data = codec::AuditDataToJson({{"finished_before", FormatTime(wish.finished_before)},
                                             {"states", states},
                                             {"request_id", by.request_id}})});
}

}  // namespace

Result<Run> RunService::Apply(const Uuid& id, model::Event event, model::AuditEvent audit) {
    std::vector<model::RunEvent> events(1);
    events.front().run_id = id;
    events.front().event = std::move(event);
    KSANA_TRY(const auto applied, store_.runs().Apply(std::move(events), {}, std::move(audit)));
    const store::Applied& outcome = applied.at(0);
    if (outcome.verdict == model::EventVerdict::kNotFound) {
        return Error(Code::kNotFound, fmt::format("there is no run {}", id.ToString()));
    }
    KSANA_TRY(store::RunHistory history, store_.runs().Get(id));
    const bool done = outcome.verdict == model::EventVerdict::kApplied ||
                      outcome.verdict == model::EventVerdict::kDuplicate;
    if (!done) return Conflict(history.run, outcome.reason);
    if (observer_ != nullptr && outcome.verdict == model::EventVerdict::kApplied) {
        observer_->Closed(history.run);
    }
    return std::move(history.run);
}

Result<Run> RunService::Cancel(const Uuid& id, const Actor& by) {
    KSANA_TRY(store::RunHistory history, store_.runs().Get(id));
    if (history.run.status.state == RunState::kCancelled) return std::move(history.run);
    KSANA_TRY(Run run, Apply(id, {.kind = EventKind::kCancel},
                             Audit(history.run, model::audit::kCancelled, by)));
    if (cancel_asked_ && run.status.state == RunState::kRunning) cancel_asked_(run);
    return run;
}

Result<Run> RunService::Resolve(const Uuid& id, const std::string& remark, const Actor& by) {
    KSANA_TRY(Run run, ByHand(id,
                              {.event = EventKind::kResolve,
                               .word = model::audit::kResolved,
                               .done = RunState::kResolved},
                              remark, by));
    KSANA_TRY_VOID(CloseHeldCallbacks(run, by));
    return run;
}

// Resolves the held callbacks of a resolved run: they are not needed any more. A second Resolve
// looks for them again if this failed.
Result<void> RunService::CloseHeldCallbacks(const Run& run, const Actor& by) {
    if (run.trigger == model::RunTrigger::kCallback) return {};
    store::RunQuery query;
    query.filter.parent = run.id;
    query.filter.trigger = model::RunTrigger::kCallback;
    query.filter.states = model::SetOf(RunState::kHeld);
    KSANA_TRY(const store::Page<Run> held, store_.runs().List(query));
    for (const Run& callback : held.items) {
        const auto closed =
            Apply(callback.id, {.kind = EventKind::kResolve, .remark = run.status.remark},
                  Audit(callback, model::audit::kResolved, by, {}, run.status.remark));
        // The callback may have been sent again meanwhile.
        if (!closed && closed.error().code != Code::kConflict) return closed.error();
    }
    return {};
}

Result<Run> RunService::SendBack(const Uuid& id, const std::string& remark, const Actor& by) {
    return ByHand(id, {.event = EventKind::kSendBack, .word = model::audit::kSentBack, .done = {}},
                  remark, by);
}

Result<Run> RunService::Hold(const Uuid& id, const std::string& remark, const Actor& by) {
    return ByHand(id,
                  {.event = EventKind::kHold, .word = model::audit::kHeld, .done = RunState::kHeld},
                  remark, by);
}

Result<Run> RunService::ByHand(const Uuid& id, const Act& act, const std::string& remark,
                               const Actor& by) {
    if (remark.size() > store::kMaxText) {
        return Error(std::vector<Problem>{
            {"/remark", fmt::format("is longer than {} bytes", store::kMaxText)}});
    }
    KSANA_TRY(store::RunHistory history, store_.runs().Get(id));
    const model::RunStatus& status = history.run.status;
    const bool said = status.state != RunState::kResolved || status.remark == remark;
    if (act.done && status.state == *act.done && said) return std::move(history.run);
    return Apply(id, {.kind = act.event, .remark = remark},
                 Audit(history.run, act.word, by, {}, remark));
}

// Lists held runs and filters by type and tenant: few runs are held, while a type may have a
// million runs.
Result<RunService::Redelivered> RunService::Redeliver(const RedeliverParams& wish,
                                                      const Actor& by) {
    Redelivered redelivered;
    store::RunQuery query;
    query.filter.states = model::SetOf(RunState::kHeld);
    query.filter.trigger = model::RunTrigger::kCallback;
    query.filter.type = wish.type;
    query.filter.tenant = wish.tenant;
    query.descending = false;
    while (redelivered.callbacks < kMostRedelivered) {
        KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
        std::vector<model::RunEvent> events;
        events.reserve(page.items.size());
        for (const Run& run : page.items) {
            events.push_back({.run_id = run.id, .event = {.kind = EventKind::kSendBack}});
        }
        if (!events.empty()) {
            KSANA_TRY(const auto applied,
                      store_.runs().Apply(std::move(events), {}, RedeliverAudit(wish, by)));
            redelivered.callbacks += std::ranges::count(applied, model::EventVerdict::kApplied,
                                                        &store::Applied::verdict);
        }
        if (page.next.empty()) return redelivered;
        query.cursor = page.next;
    }
    redelivered.more = true;
    return redelivered;
}

Result<void> RunService::Delete(const Uuid& id, const Actor& by) {
    KSANA_TRY(const store::RunHistory history, store_.runs().Get(id));
    return store_.runs().Delete(
        {.now = {}, .id = id, .audit = Audit(history.run, model::audit::kDeleted, by)});
}

Result<RunService::Purged> RunService::Purge(const PurgeRunsParams& wish, const Actor& by) {
    Purged purged;
    if (wish.dry_run) {
        store::RunFilter filter;
        filter.states = static_cast<model::RunStates>(wish.states & ~model::kUnfinishedStates);
        filter.finished_until = wish.finished_before;
        KSANA_TRY(purged.runs, store_.runs().Count(filter, kMostCounted + 1));
        purged.more = purged.runs > kMostCounted;
        purged.runs = std::min(purged.runs, kMostCounted);
        return purged;
    }
    store::PurgeParams params{.finished_before = wish.finished_before,
                              .states = wish.states,
                              .limit = kPurgeBatch,
                              .audit = PurgeAudit(wish, by)};
    while (purged.runs < kMostPurged) {
        KSANA_TRY(const std::size_t batch, store_.runs().Purge(params));
        purged.runs += static_cast<std::int64_t>(batch);
        if (batch < params.limit) return purged;
        params.audit.reset();
    }
    purged.more = true;
    return purged;
}

Result<Run> RunService::Retry(const Uuid& id, std::optional<Uuid> new_id, const Actor& by) {
    KSANA_TRY(const store::RunHistory history, store_.runs().Get(id));
    const Run& old = history.run;
    if (old.status.state == RunState::kHeld) {
        return Apply(id, {.kind = EventKind::kSendBack}, Audit(old, model::audit::kRetried, by));
    }
    if (!CanBeMadeAgain(old.status.state)) {
        return Conflict(old, "only what is over without success, or held, can be run again");
    }
    if (!old.job_id.empty()) {
        const auto job = store_.jobs().Get(old.job_id);
        if (!job && job.error().code == Code::kNotFound) {
            return Conflict(old, fmt::format("its job \"{}\" is gone", old.job_id));
        }
        if (!job) return job.error();
    }
    return Again(old, new_id ? *new_id : ids_.Next(), by);
}

Result<Run> RunService::Again(const Run& old, const Uuid& new_id, const Actor& by) {
    Run run = Copy(old);
    run.id = new_id;
    KSANA_TRY(const TimePoint now, store_.Now());
    run.status.ready_at = now;
    std::vector<Run> runs;
    runs.push_back(std::move(run));
    KSANA_TRY(
        const auto submitted,
        store_.runs().Submit({.now = now,
                              .runs = std::move(runs),
                              .start = {},
                              .audit = Audit(old, model::audit::kRetried, by, new_id.ToString())}));
    const store::Submitted& outcome = submitted.at(0);
    if (outcome.verdict == store::SubmitVerdict::kSameKey) {
        return Conflict(old, fmt::format("run {} holds its unique key", outcome.id.ToString()));
    }
    KSANA_TRY(store::RunHistory stored, store_.runs().Get(outcome.id));
    return std::move(stored.run);
}

}  // namespace ksana::engine

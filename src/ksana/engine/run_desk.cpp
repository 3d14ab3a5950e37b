#include "ksana/engine/run_desk.hpp"

#include <fmt/core.h>

#include "ksana/base/time_text.hpp"
#include "ksana/codec/audit_view.hpp"
#include "ksana/model/audit_words.hpp"

namespace ksana::engine {

using model::EventKind;
using model::Run;
using model::RunState;

namespace {

Error Conflict(const Run& run, std::string_view why) {
    return {Code::kConflict,
            fmt::format("the run is {}: {}", model::NameOf(run.status.state), why)};
}

bool CanBeMadeAgain(RunState state) {
    return model::IsFinal(state) && state != RunState::kSucceeded;
}

// What the run was to do, with nothing of what became of it.
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
    run.unique = old.unique;
    run.parent = old.id;
    run.policy = old.policy;
    run.policy.ignores_overlap = true;
    return run;
}

model::AuditEvent Audit(const Run& run, std::string_view action, const Actor& by,
                        const std::string& new_run = {}) {
    return AuditOf(by, {.action = action,
                        .resource_type = model::audit::kRun,
                        .resource_id = run.id.ToString(),
                        .tenant = run.tenant,
                        .data = codec::AuditDataToJson(
                            {{model::audit::kJobId, run.job_id},
                             {model::audit::kNominalAt,
                              run.nominal_at ? FormatTime(*run.nominal_at) : std::string()},
                             {"new_run_id", new_run},
                             {"request_id", by.request_id}})});
}

}  // namespace

Result<Run> RunDesk::Apply(const Uuid& id, EventKind kind, model::AuditEvent audit) {
    std::vector<store::RunEvent> events(1);
    events.front().run_id = id;
    events.front().event.kind = kind;
    KSANA_TRY(const auto applied, store_.runs().Apply(std::move(events), {}, std::move(audit)));
    const store::Applied& outcome = applied.at(0);
    if (outcome.verdict == store::ApplyVerdict::kNotFound) {
        return Error(Code::kNotFound, fmt::format("there is no run {}", id.ToString()));
    }
    KSANA_TRY(store::RunHistory history, store_.runs().Get(id));
    const bool done = outcome.verdict == store::ApplyVerdict::kApplied ||
                      outcome.verdict == store::ApplyVerdict::kDuplicate;
    if (!done) return Conflict(history.run, outcome.reason);
    return std::move(history.run);
}

Result<Run> RunDesk::Cancel(const Uuid& id, const Actor& by) {
    KSANA_TRY(store::RunHistory history, store_.runs().Get(id));
    if (history.run.status.state == RunState::kCancelled) return std::move(history.run);
    return Apply(id, EventKind::kCancel, Audit(history.run, model::audit::kCancelled, by));
}

Result<void> RunDesk::Delete(const Uuid& id, const Actor& by) {
    KSANA_TRY(const store::RunHistory history, store_.runs().Get(id));
    return store_.runs().Delete(
        {.now = {}, .id = id, .audit = Audit(history.run, model::audit::kDeleted, by)});
}

Result<Run> RunDesk::Retry(const Uuid& id, std::optional<Uuid> new_id, const Actor& by) {
    KSANA_TRY(const store::RunHistory history, store_.runs().Get(id));
    const Run& old = history.run;
    if (old.status.state == RunState::kHeld) {
        return Apply(id, EventKind::kSendBack, Audit(old, model::audit::kRetried, by));
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

Result<Run> RunDesk::Again(const Run& old, const Uuid& new_id, const Actor& by) {
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

#pragma once

#include "ksana/codec/json/json_form.hpp"
#include "ksana/codec/v1/job_fields.hpp"
#include "ksana/model/run/run.hpp"

// JSON members of a run, its parts and its attempts. Members that hold JSON are plain texts here:
// only records are written with this list, and they keep every byte.

namespace ksana::codec {

template <>
struct FieldsOf<model::RunStatus> {
    using Status = model::RunStatus;

    template <class V>
    static void Visit(V& v) {
        v("state", &Status::state, "Where the run stands.");
        v("ready_at", &Status::ready_at, "Not started before.");
        v("attempt", &Status::attempt, "Number of the current or last attempt; 0: none yet.");
        v("failures", &Status::failures, "Attempts that counted against the retries.");
        v("fence", &Status::fence,
          "Grows with every attempt, for targets to refuse an older one by.");
        v("exec_id", &Status::exec_id, "Of this attempt: what every report must carry.");
        v("last_report", &Status::last_report);
        v("outcome", &Status::outcome, "Of the last attempt.");
        v("owner", &Status::owner, "Of the current or last attempt.");
        v("lease_until", &Status::lease_until);
        v("deadline", &Status::deadline, "Of the attempt.");
        v("started_at", &Status::started_at, "Of the current or last attempt.");
        v("ended_at", &Status::ended_at, "Of the last attempt.");
        v("finished_at", &Status::finished_at, "Of the run.");
        v("progress", &Status::progress, Doc("Percent that are done.").Between(0, 100));
        v("progress_note", &Status::progress_note, "What the worker says about it.");
        v("cancel_requested", &Status::cancel_requested, "The run is to stop.");
        v("not_stopping", &Status::not_stopping,
          "The attempt went on after its timeout and the grace.");
        v("blocked", &Status::blocked,
          "Waits for another run of its job, or for a job that its job depends on.");
        v("wait_until", &Status::wait_until,
          "Of a run that waits for a job that its job depends on: it is skipped then.");
        v("watched", &Status::watched);
        v("result", &Status::result);
        v("last_error", &Status::last_error, "Why the last attempt failed.");
        v("detail", &Status::detail);
        v("remark", &Status::remark, "What a person said about it.");
        v("skip_reason", &Status::skip_reason, "Why it was skipped.");
    }
};

template <>
struct FieldsOf<model::UniqueRule> {
    template <class V>
    static void Visit(V& v) {
        v("key", &model::UniqueRule::key);
        v("states", &model::UniqueRule::states);
        v("until", &model::UniqueRule::until);
    }
};

template <>
struct FieldsOf<model::RunPolicy> {
    static constexpr SchemaDoc kSchema{
        .name = "RunPolicy", .means = "The rules it lives by, as they were when it was made."};

    using Policy = model::RunPolicy;

    template <class V>
    static void Visit(V& v) {
        v("retry", &Policy::retry, "What happens after an attempt that failed.");
        v("timeout", &Policy::timeout, "Of one attempt.");
        v("stop_grace", &Policy::stop_grace,
          "Time to stop after the timeout before the run is taken from its worker.");
        v("overlap", &Policy::overlap, "What a fire does while an earlier run is not over.");
        v("ignores_overlap", &Policy::ignores_overlap, "It starts whatever else of its job runs.");
        v("run_log", &Policy::run_log, "What is kept of it.");
        v("need_manual", &Policy::need_manual,
          "Exhausted retries wait for a person (held) instead of failing.");
        v("success_callback", &Policy::success_callback, "A callback follows a success.");
        v("error_callback", &Policy::error_callback, "A callback follows any other end.");
        v("depends", &Policy::depends,
          "It starts only when the latest runs of the jobs that its job depends on have "
          "succeeded.");
        v("max_wait", &Policy::max_wait, "How long it waits for them.");
    }
};

template <>
struct FieldsOf<model::Run> {
    using Run = model::Run;

    template <class V>
    static void Visit(V& v) {
        v.Key("id", &Run::id, "The same over all attempts.");
        v("job_id", &Run::job_id, "Absent: submitted directly.");
        v("tenant", &Run::tenant, "Whose run it is.");
        v("type", &Run::type, "Who serves it.");
        v("category", &Run::category, "Category of the type.");
        v("creator", &Run::creator, "Who submitted it.");
        v("kind", &Run::kind, "Who carries it out.");
        v("trigger", &Run::trigger, "What made it.");
        v("priority", &Run::priority,
          Doc("Who goes first where runs wait: 9 before 0.")
              .Between(model::kMinPriority, model::kMaxPriority));
        v("nominal_at", &Run::nominal_at, "Of a fire: its time by the schedule.");
        v("payload", &Run::payload);
        v("selector", &Run::selector, "Only for agents with these labels.");
        v("prefer", &Run::prefer, "Workers with these labels are asked first.");
        v("prefer_for", &Run::prefer_for, "How long only those are asked.");
        v("unique", &Run::unique);
        v("parent", &Run::parent, "The run that this one was made after: what a retry repeats.");
        v("trace_parent", &Run::trace_parent);
        v("policy", &Run::policy, "The rules it lives by.");
        v("created_at", &Run::created_at, "When it was made.");
        v("updated_at", &Run::updated_at, "When it was changed.");
        v("status", &Run::status);
    }
};

template <>
struct FieldsOf<model::Attempt> {
    using Attempt = model::Attempt;

    template <class V>
    static void Visit(V& v) {
        v.Key("run_id", &Attempt::run_id);
        v.Key("number", &Attempt::number, "1 for the first.");
        v("exec_id", &Attempt::exec_id);
        v("fence", &Attempt::fence);
        v("owner", &Attempt::owner, "Who worked on it.");
        v("started_at", &Attempt::started_at, "When it began.");
        v("ended_at", &Attempt::ended_at, "Absent: under way.");
        v("outcome", &Attempt::outcome, "How it ended.");
        v("error", &Attempt::error, "Why it failed.");
        v("detail", &Attempt::detail);
        v("not_stopping", &Attempt::not_stopping, "It went on after its timeout and the grace.");
    }
};

}  // namespace ksana::codec

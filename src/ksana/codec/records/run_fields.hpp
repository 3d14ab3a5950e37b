#pragma once

#include "ksana/codec/json/json_form.hpp"
#include "ksana/codec/v1/job_fields.hpp"
#include "ksana/model/run/run.hpp"

// The members of a run, its parts and its attempts, as they are called in JSON. What holds JSON is
// a plain text here: only records are made of these, and they keep its bytes.

namespace ksana::codec {

template <>
struct FieldsOf<model::RunStatus> {
    using Status = model::RunStatus;

    template <class V>
    static void Visit(V& v) {
        v("state", &Status::state);
        v("ready_at", &Status::ready_at);
        v("attempt", &Status::attempt);
        v("failures", &Status::failures);
        v("fence", &Status::fence);
        v("exec_id", &Status::exec_id);
        v("last_report", &Status::last_report);
        v("outcome", &Status::outcome);
        v("owner", &Status::owner);
        v("lease_until", &Status::lease_until);
        v("deadline", &Status::deadline);
        v("started_at", &Status::started_at);
        v("ended_at", &Status::ended_at);
        v("finished_at", &Status::finished_at);
        v("progress", &Status::progress);
        v("progress_note", &Status::progress_note);
        v("cancel_requested", &Status::cancel_requested);
        v("not_stopping", &Status::not_stopping);
        v("blocked", &Status::blocked);
        v("result", &Status::result);
        v("last_error", &Status::last_error);
        v("detail", &Status::detail);
        v("remark", &Status::remark);
        v("skip_reason", &Status::skip_reason);
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
    using Policy = model::RunPolicy;

    template <class V>
    static void Visit(V& v) {
        v("retry", &Policy::retry);
        v("timeout", &Policy::timeout);
        v("stop_grace", &Policy::stop_grace);
        v("overlap", &Policy::overlap);
        v("ignores_overlap", &Policy::ignores_overlap);
        v("run_log", &Policy::run_log);
        v("need_manual", &Policy::need_manual);
        v("success_callback", &Policy::success_callback);
        v("error_callback", &Policy::error_callback);
    }
};

template <>
struct FieldsOf<model::Run> {
    using Run = model::Run;

    template <class V>
    static void Visit(V& v) {
        v.Key("id", &Run::id);
        v("job_id", &Run::job_id);
        v("tenant", &Run::tenant);
        v("type", &Run::type);
        v("category", &Run::category);
        v("creator", &Run::creator);
        v("kind", &Run::kind);
        v("trigger", &Run::trigger);
        v("priority", &Run::priority);
        v("nominal_at", &Run::nominal_at);
        v("payload", &Run::payload);
        v("selector", &Run::selector);
        v("unique", &Run::unique);
        v("parent", &Run::parent);
        v("policy", &Run::policy);
        v("created_at", &Run::created_at);
        v("updated_at", &Run::updated_at);
        v("status", &Run::status);
    }
};

template <>
struct FieldsOf<model::Attempt> {
    using Attempt = model::Attempt;

    template <class V>
    static void Visit(V& v) {
        v.Key("run_id", &Attempt::run_id);
        v.Key("number", &Attempt::number);
        v("exec_id", &Attempt::exec_id);
        v("fence", &Attempt::fence);
        v("owner", &Attempt::owner);
        v("started_at", &Attempt::started_at);
        v("ended_at", &Attempt::ended_at);
        v("outcome", &Attempt::outcome);
        v("error", &Attempt::error);
        v("detail", &Attempt::detail);
        v("not_stopping", &Attempt::not_stopping);
    }
};

}  // namespace ksana::codec

#pragma once

#include "ksana/codec/json/json_form.hpp"
#include "ksana/model/job/job.hpp"

// The members of a job and its parts, as they are called in JSON.

namespace ksana::codec {

template <>
struct FieldsOf<model::HttpAction> {
    template <class V>
    static void Visit(V& v) {
        v("method", &model::HttpAction::method);
        v.Required("url", &model::HttpAction::url);
        v("headers", &model::HttpAction::headers);
        v("body", &model::HttpAction::body);
    }
};

template <>
struct FieldsOf<model::CommandAction> {
    template <class V>
    static void Visit(V& v) {
        v.Required("argv", &model::CommandAction::argv);
        v("environment", &model::CommandAction::environment);
        v("working_directory", &model::CommandAction::working_directory);
    }
};

template <>
struct FieldsOf<model::HandlerAction> {
    template <class V>
    static void Visit(V& v) {
        v.Required("name", &model::HandlerAction::handler);
        v.Json("input", &model::HandlerAction::input);
    }
};

template <>
struct FieldsOf<model::QueueAction> {
    template <class V>
    static void Visit(V& v) {
        v.Required("type", &model::QueueAction::type);
        v("category", &model::QueueAction::category);
        v.Json("payload", &model::QueueAction::payload);
    }
};

template <>
struct FieldsOf<model::RetryPolicy> {
    template <class V>
    static void Visit(V& v) {
        v("strategy", &model::RetryPolicy::strategy);
        v("max_retries", &model::RetryPolicy::max_retries);
        v("interval", &model::RetryPolicy::interval);
        v("sequence", &model::RetryPolicy::sequence);
        v("max_interval", &model::RetryPolicy::max_interval);
        v("jitter", &model::RetryPolicy::jitter);
    }
};

template <>
struct FieldsOf<model::Misfire> {
    template <class V>
    static void Visit(V& v) {
        v("policy", &model::Misfire::policy);
        v("max_runs", &model::Misfire::max_runs);
        v("grace", &model::Misfire::grace);
    }
};

template <>
struct FieldsOf<model::Dependency> {
    template <class V>
    static void Visit(V& v) {
        v.Required("job", &model::Dependency::job_id);
        v("on_failure", &model::Dependency::on_failure);
    }
};

template <>
struct FieldsOf<schedule::DstPolicy> {
    template <class V>
    static void Visit(V& v) {
        v("gap", &schedule::DstPolicy::gap);
        v("fold", &schedule::DstPolicy::fold);
    }
};

template <>
struct FieldsOf<schedule::ScheduleSpec> {
    using Spec = schedule::ScheduleSpec;
    using Kind = schedule::ScheduleKind;

    template <class V>
    static void Visit(V& v) {
        v.Required("kind", &Spec::kind);
        if (v.Is(&Spec::kind, Kind::kOnce)) v.Required("run_at", &Spec::run_at);
        if (v.Is(&Spec::kind, Kind::kEvery)) v.Required("every", &Spec::every);
        if (v.Is(&Spec::kind, Kind::kCron)) {
            v.Required("cron", &Spec::cron);
            v("dialect", &Spec::dialect);
            v("day_match", &Spec::day_match);
            v.Flat(&Spec::dst);
        }
        if (v.Is(&Spec::kind, Kind::kEvery) || v.Is(&Spec::kind, Kind::kCron)) {
            v("zone", &Spec::zone);
            v("start_at", &Spec::start_at);
            v("end_at", &Spec::end_at);
            v.Rare("calendar", &Spec::calendar);
        }
        v("jitter", &Spec::jitter);
    }
};

template <>
struct FieldsOf<model::JobDefinition> {
    using Job = model::JobDefinition;

    template <class V>
    static void Visit(V& v) {
        v.Key("id", &Job::id);
        v("tenant", &Job::tenant);
        v("group", &Job::group);
        v("owner", &Job::owner);
        v.Required("name", &Job::name);
        v("description", &Job::description);
        v("labels", &Job::labels);
        v("enabled", &Job::enabled);
        v.Rare("paused_reason", &Job::paused_reason);
        v.template Choice<model::ActionKind>("type", &Job::action);
        v.Required("schedule", &Job::schedule);
        v("misfire", &Job::misfire);
        v("overlap", &Job::overlap);
        v("retry", &Job::retry);
        v("timeout", &Job::timeout);
        v("stop_grace", &Job::stop_grace);
        v("priority", &Job::priority);
        v("depends_on", &Job::depends_on);
        v("run_log", &Job::run_log);
    }
};

template <>
struct FieldsOf<model::JobState> {
    using State = model::JobState;

    template <class V>
    static void Visit(V& v) {
        v("version", &State::version);
        v("created_at", &State::created_at);
        v("updated_at", &State::updated_at);
        v("planned_until", &State::planned_until);
        v("next_run_at", &State::next_run_at);
        v("last_run_at", &State::last_run_at);
        v("last_state", &State::last_state);
        v("last_error", &State::last_error);
        v("total_runs", &State::total_runs);
        v("consecutive_failures", &State::consecutive_failures);
    }
};

// A record: both. A definition that a client sends is a model::JobDefinition.
template <>
struct FieldsOf<model::Job> {
    template <class V>
    static void Visit(V& v) {
        v.template Base<model::JobDefinition>();
        v.Flat(&model::Job::state);
    }
};

}  // namespace ksana::codec

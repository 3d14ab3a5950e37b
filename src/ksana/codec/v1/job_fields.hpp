#pragma once

#include "ksana/codec/json/json_form.hpp"
#include "ksana/codec/v1/action_fields.hpp"
#include "ksana/model/job/job.hpp"

// JSON members of a job and its parts.

namespace ksana::codec {

template <>
struct FieldsOf<model::RetryPolicy> {
    static constexpr SchemaDoc kSchema{.name = "Retry",
                                       .means = "What happens after an attempt that failed."};

    template <class V>
    static void Visit(V& v) {
        v("strategy", &model::RetryPolicy::strategy,
          "How long to wait: always the interval (fixed), the times of the sequence, or the "
          "interval doubled each time (exponential).");
        v("max_retries", &model::RetryPolicy::max_retries, "Attempts after the first.");
        v("interval", &model::RetryPolicy::interval,
          "Time before a retry; of exponential before the first.");
        v("sequence", &model::RetryPolicy::sequence,
          "Of sequence: the time before each retry; the last one repeats.");
        v("max_interval", &model::RetryPolicy::max_interval, "Of exponential: no more than this.");
        v("jitter", &model::RetryPolicy::jitter,
          "Adds up to this share of the time, so that failures of one moment do not return "
          "together.");
    }
};

template <>
struct FieldsOf<model::Misfire> {
    static constexpr SchemaDoc kSchema{
        .name = "Misfire", .means = "What becomes of fires whose time passed while no server ran."};

    template <class V>
    static void Visit(V& v) {
        v("policy", &model::Misfire::policy, "None of them runs, the latest one does, or all do.");
        v("max_runs", &model::Misfire::max_runs, "Of run_all: at most so many, the latest ones.");
        v("grace", &model::Misfire::grace, "A fire that is late by no more than this is on time.");
    }
};

template <>
struct FieldsOf<model::Dependency> {
    static constexpr SchemaDoc kSchema{
        .name = "Dependency", .means = "Another job whose latest run decides about a fire."};

    template <class V>
    static void Visit(V& v) {
        v.Required("job", &model::Dependency::job_id, "Id of the other job.");
        v("on_failure", &model::Dependency::on_failure,
          "What a fire does when the latest run of the other job failed: it is skipped, waits for "
          "a "
          "later success, or runs.");
    }
};

template <>
struct FieldsOf<model::Placement> {
    static constexpr SchemaDoc kSchema{.name = "Placement",
                                       .means = "Which workers run the job, by their labels."};

    template <class V>
    static void Visit(V& v) {
        v("require", &model::Placement::require, "Only workers that have all of these labels.");
        v("prefer", &model::Placement::prefer, "Workers that have all of these are asked first.");
        v("prefer_for", &model::Placement::prefer_for,
          "How long only those are asked; 0s: 2s, or 10s with sticky.");
        v("sticky", &model::Placement::sticky,
          "A key: runs with the same one go to the same worker first.");
        v("broadcast", &model::Placement::broadcast,
          "A fire makes one run for each live worker that serves it.");
    }
};

template <>
struct FieldsOf<schedule::DstPolicy> {
    template <class V>
    static void Visit(V& v) {
        v("gap", &schedule::DstPolicy::gap, "A time that the clocks skip.");
        v("fold", &schedule::DstPolicy::fold, "A time that comes twice.");
    }
};

template <>
struct FieldsOf<schedule::ScheduleSpec> {
    static constexpr SchemaDoc kSchema{.name = "Schedule",
                                       .means =
                                           "When a job fires. once has run_at, every has every, "
                                           "cron has cron, after has jobs; docs/schedules.md "
                                           "tells the rest."};

    using Spec = schedule::ScheduleSpec;
    using Kind = schedule::ScheduleKind;

    template <class V>
    static void Visit(V& v) {
        v.Required("kind", &Spec::kind, "Which kind of schedule it is.");
        if (v.Is(&Spec::kind, Kind::kOnce))
            v.Required("run_at", &Spec::run_at, "Of once: the time.");
        if (v.Is(&Spec::kind, Kind::kEvery))
            v.Required("every", &Spec::every, "Of every: the time between two fires.");
        if (v.Is(&Spec::kind, Kind::kCron)) {
            v.Required("cron", &Spec::cron,
                       Doc("Of cron: the expression.").Example("0 3 * * MON-FRI"));
            v("dialect", &Spec::dialect, "Of cron: how the expression is read.");
            v("day_match", &Spec::day_match,
              "Of cron: whether the day of the month and the day of the week must both match.");
            v.Flat(&Spec::dst);
        }
        if (v.Is(&Spec::kind, Kind::kAfter)) {
            v.Required("jobs", &Spec::jobs,
                       Doc("Of after: the jobs whose runs end.").Example("[\"load\"]"));
            v("on", &Spec::on, "Of after: which ends count.");
            v("join", &Spec::join,
              "Of after: one fire when all of the jobs have ended since the last one, or one for "
              "each end.");
        }
        if (v.Is(&Spec::kind, Kind::kEvery) || v.Is(&Spec::kind, Kind::kCron)) {
            v("zone", &Spec::zone,
              Doc("Time zone of the expression and of the calendar.").Example("Europe/Paris"));
        }
        if (v.Is(&Spec::kind, Kind::kEvery) || v.Is(&Spec::kind, Kind::kCron) ||
            v.Is(&Spec::kind, Kind::kAfter)) {
            v("start_at", &Spec::start_at, "Nothing before; of every also the origin of the grid.");
            v("end_at", &Spec::end_at, "Nothing after.");
        }
        if (v.Is(&Spec::kind, Kind::kEvery) || v.Is(&Spec::kind, Kind::kCron)) {
            v.Rare("calendar", &Spec::calendar, "Name of a calendar.");
        }
        v("jitter", &Spec::jitter, "Each fire is delayed by up to this.");
    }
};

template <>
struct FieldsOf<model::JobDefinition> {
    using Job = model::JobDefinition;

    template <class V>
    static void Visit(V& v) {
        v.Key("id", &Job::id,
              Doc("1 to 128 letters, digits and - _ . : drawn where it is absent.")
                  .Pattern("^[A-Za-z0-9._:-]{1,128}$"));
        v("tenant", &Job::tenant, "Whose job it is.");
        v("group", &Job::group, "Jobs of a group are limited, paused and resumed together.");
        v("owner", &Job::owner, "Who answers for the job.");
        v.Required("name", &Job::name, "What people call it.");
        v("description", &Job::description, "What it is for.");
        v("labels", &Job::labels, "Names and values to find it by.");
        v("enabled", &Job::enabled, "false: it is paused and does not fire.");
        v.Rare("paused_reason", &Job::paused_reason, "Why it is paused.");
        v.template Choice<model::ActionKind>(
            "type", &Job::action, "What the job does; the member of the same name tells the rest.");
        v.Required("schedule", &Job::schedule, "When it fires.");
        v("misfire", &Job::misfire, "What becomes of fires whose time passed while no server ran.");
        v("overlap", &Job::overlap, "What a fire does while an earlier run is not over.");
        v("retry", &Job::retry, "Absent: that of the type, else that of the server.");
        v("timeout", &Job::timeout,
          "Of one attempt. Absent: that of the type, else that of the server.");
        v("stop_grace", &Job::stop_grace,
          "Time to stop after the timeout before the run is taken from its worker.");
        v("priority", &Job::priority,
          Doc("Who goes first where runs wait: 9 before 0.")
              .Between(model::kMinPriority, model::kMaxPriority));
        v("depends_on", &Job::depends_on,
          "Jobs whose latest run must have succeeded before a fire starts (docs/dependencies.md).");
        v("max_wait", &Job::max_wait,
          "How long a fire waits for the jobs of depends_on; then it is skipped.");
        v.Rare("placement", &Job::placement, "Which workers run it; absent: any.");
        v("run_log", &Job::run_log,
          "What is kept of its runs: everything, that they started, or nothing.");
    }
};

template <>
struct FieldsOf<model::JobState> {
    static constexpr SchemaDoc kSchema{.answer = true};  // accepted in a definition, and ignored

    using State = model::JobState;

    template <class V>
    static void Visit(V& v) {
        v("version", &State::version, "Grows with every change of the definition.");
        v("created_at", &State::created_at, "When it was made.");
        v("updated_at", &State::updated_at, "When it was changed.");
        v("planned_until", &State::planned_until, "Every fire up to here is accounted for.");
        v("next_run_at", &State::next_run_at, "The next fire; absent when there is none.");
        v("last_run_at", &State::last_run_at, "When the last run began; absent before the first.");
        v("last_state", &State::last_state, "How the last run ended.");
        v("last_error", &State::last_error, "Why the last run failed.");
        v("total_runs", &State::total_runs, "Runs so far.");
        v("consecutive_failures", &State::consecutive_failures,
          "Runs that failed since the last that succeeded.");
        v("dependants", &State::dependants,
          "How many other jobs name this one in depends_on or in a schedule of kind after.");
    }
};

// A record: definition and state. A client sends a model::JobDefinition.
template <>
struct FieldsOf<model::Job> {
    template <class V>
    static void Visit(V& v) {
        v.template Base<model::JobDefinition>();
        v.Flat(&model::Job::state);
    }
};

}  // namespace ksana::codec

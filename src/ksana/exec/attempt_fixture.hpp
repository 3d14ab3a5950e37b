#pragma once

#include <memory>
#include <string>
#include <utility>

#include "ksana/base/time/time_text.hpp"
#include "ksana/engine/dispatch/executor.hpp"

// Shared by the tests of this module.

namespace ksana::exec {

inline TimePoint At(std::string_view text) { return ParseTime(text).value(); }

// Returns the second attempt of a fire, started at 08:00:01 with a timeout of ten seconds.
inline engine::ActiveAttempt AttemptOf(model::HttpAction action) {
    auto job = std::make_shared<model::Job>();
    job->id = "job-1";
    job->name = "Nightly \"report\"";
    job->action = std::move(action);
    model::Run run;
    run.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-0123456789ab");
    run.job_id = "job-1";
    run.tenant = "acme";
    run.kind = model::ActionKind::kHttp;
    run.nominal_at = At("2026-03-01T08:00:00Z");
    run.created_at = At("2026-03-01T07:59:00Z");
    run.policy.timeout = std::chrono::seconds(10);
    run.status.state = model::RunState::kRunning;
    run.status.exec_id = "exec-2";
    run.status.attempt = 2;
    run.status.fence = 5;
    run.status.started_at = At("2026-03-01T08:00:01Z");
    run.status.deadline = At("2026-03-01T08:00:11Z");
    engine::ActiveAttempt attempt;
    attempt.run = std::move(run);
    attempt.job = std::move(job);
    return attempt;
}

inline TimePoint StartOfAttempt() { return At("2026-03-01T08:00:01Z"); }

}  // namespace ksana::exec

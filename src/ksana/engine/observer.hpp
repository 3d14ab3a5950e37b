#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/wait_cause.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// How an attempt that this node executed ended.
struct AttemptEnd {
    const model::Run& run;  // as of the start of the attempt
    const std::string& job_name;
    const model::Event& event;  // the reported event
    store::Applied applied;     // the store's verdict on the report
    Duration took{};
    const model::Job* job = nullptr;  // as the attempt saw it; may be null
};

// One step of a loop.
struct LoopStep {
    std::string_view loop;
    // How long after the time that the loop had wished for it was called; none: something woke it
    // before that.
    std::optional<Duration> late;
    Duration took{};
};

// Observes the engine, for metrics. The caller that wires up the engine owns it. Methods are called
// after the commit, on loop threads and on request threads, so an implementation must be
// thread-safe, return quickly and not throw.
class Observer {
  public:
    virtual ~Observer() = default;

    virtual void Planned(std::size_t /*jobs*/, std::size_t /*runs*/) {}
    // Fires that were accounted for and made no run.
    virtual void NotRun(model::FireFate /*fate*/, std::size_t /*fires*/) {}
    // Runs that a fire or a claim ended as skipped.
    virtual void Skipped(std::size_t /*runs*/) {}
    // `late`: the time between the run's ready time and the start of the attempt.
    virtual void Started(const model::Run& /*run*/, Duration /*late*/) {}
    virtual void Ended(const AttemptEnd& /*end*/) {}
    // An agent's report on its attempt, and the store's verdict.
    virtual void Reported(model::EventKind /*kind*/, const store::Applied& /*applied*/) {}
    // A limit or an open circuit breaker held the attempt back, and its run was given back to the
    // store.
    virtual void Deferred(const model::Run& /*run*/, const model::WaitCause& /*cause*/) {}
    // A person, or an API, ended the run or its attempt.
    virtual void Closed(const model::Run& /*run*/) {}
    virtual void Reaped(const model::Run& /*run*/) {}
    virtual void Purged(std::size_t /*runs*/) {}
    virtual void Stepped(const LoopStep& /*step*/) {}
    virtual void StepFailed(std::string_view /*loop*/, const Error& /*error*/) {}
};

}  // namespace ksana::engine

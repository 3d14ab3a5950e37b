#pragma once

#include <cstddef>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/wait_cause.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// How an attempt that this node carried out ended.
struct AttemptEnd {
    const model::Run& run;  // as it was when the attempt started
    const std::string& job_name;
    const model::Event& event;  // what was reported
    store::Applied applied;     // what became of the report
    Duration took{};
};

// Sees what the engine does, for metrics. Called after the commit, on the engine's threads: returns
// soon and does not throw.
class Observer {
  public:
    virtual ~Observer() = default;

    virtual void Planned(std::size_t /*jobs*/, std::size_t /*runs*/) {}
    // Late: how long after its time the attempt was started.
    virtual void Started(const model::Run& /*run*/, Duration /*late*/) {}
    virtual void Ended(const AttemptEnd& /*end*/) {}
    // What an agent said of its attempt, and what became of that.
    virtual void Reported(model::EventKind /*kind*/, const store::Applied& /*applied*/) {}
    // A limit or an open breaker was in its way, and it was given back.
    virtual void Deferred(const model::Run& /*run*/, const model::WaitCause& /*cause*/) {}
    virtual void Reaped(const model::Run& /*run*/) {}
    virtual void Purged(std::size_t /*runs*/) {}
    virtual void StepFailed(std::string_view /*loop*/, const Error& /*error*/) {}
};

}  // namespace ksana::engine

#pragma once

#include <memory>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/sdk/run/job_runner.hpp"

namespace ksana::detail {
class SchedulerCore;
}

namespace ksana::sdk {

// The jobs of a scheduler in a store: a server inside the process, whose engine fires them and
// whose executor is the JobRunner. Owned by the scheduler. Thread-safe.
class StoredJobs {
  public:
    struct Options {
        std::string store;  // empty: in memory
        std::string http;   // empty: not served
        std::string lock;   // as in SchedulerOptions
        Clock& clock;
        Random& random;
        JobRunner& runner;
        detail::SchedulerCore& scheduler;  // for the admin routes
    };

    static Result<std::unique_ptr<StoredJobs>> Open(const Options& options);
    virtual ~StoredJobs() = default;

    virtual Result<void> Start() = 0;
    // Starts no further run, and waits for those that run, at most `timeout`.
    virtual void Stop(Duration timeout) = 0;

    // Whether other processes may use the same store.
    virtual bool shared() const = 0;
    virtual std::uint16_t http_port() const = 0;

    // Stores the job, or changes the stored one to what the entry says. `scheduled`: the global
    // switch.
    virtual Result<void> Put(JobEntry& entry, bool scheduled) = 0;
    virtual Result<void> Remove(JobEntry& entry) = 0;
    virtual Result<void> Trigger(JobEntry& entry, const Parameters& parameters) = 0;
    virtual Result<void> SetEnabled(JobEntry& entry, bool enabled) = 0;
};

}  // namespace ksana::sdk

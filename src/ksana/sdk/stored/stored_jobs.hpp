#pragma once

#include <memory>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/sdk/run/job_runner.hpp"
#include "ksana/sdk/stored/handler_executor.hpp"
#include "ksana/server/application.hpp"

namespace ksana::sdk {

// The owner of jobs that a program declares, and the actor of their changes.
inline constexpr std::string_view kLibrary = "library";

// The jobs of a scheduler in a store: a server inside the process, whose engine fires them and
// whose executor is the JobRunner. Owned by the scheduler. Thread-safe.
class StoredJobs {
    struct Key {};  // only Open can construct one

  public:
    struct Options {
        std::string store;  // empty: in memory
        std::string http;   // "ADDRESS:PORT"; empty: not served
        std::string http_token_file;
        Clock& clock;
        Random& random;
        JobRunner& runner;
        const TaskHandlers& handlers;
        api::AdminJobs& admin;
    };

    StoredJobs(Key key, const Options& options, bool shared);

    // Opens the store and makes all parts without starting them.
    static Result<std::unique_ptr<StoredJobs>> Open(const Options& options);

    // Starts to fire. Call it when all jobs are put: jobs of an earlier version of the program,
    // which are left in a store that only this process uses, are paused.
    Result<void> Start();
    // Starts no further run, and waits for those that run, at most `timeout`.
    void Stop(Duration timeout) { application_->StopWithin(timeout); }

    // Whether other processes may use the same store.
    bool shared() const { return application_->is_shared(); }
    std::uint16_t http_port() const { return listens_ ? application_->port() : std::uint16_t{0}; }

    // Stores the job, or changes the stored one to what the entry says. `scheduled`: the global
    // switch. kConflict: the store has another job with this id.
    Result<void> Put(JobEntry& entry, bool scheduled);
    Result<void> Remove(JobEntry& entry);
    Result<void> Trigger(const std::string& id, const Parameters& parameters,
                         const engine::Actor& by);
    // Returns the next fire; none: there is none.
    Result<std::optional<TimePoint>> SetEnabled(const std::string& id, bool enabled,
                                                const engine::Actor& by);

  private:
    Result<void> PauseLeftovers();

    UuidGenerator ids_;
    TaskExecutor queue_tasks_;
    TaskExecutor handler_tasks_;
    HandlerExecutor executor_;
    const bool listens_;
    std::unique_ptr<server::Application> application_;  // set by Open
};

}  // namespace ksana::sdk

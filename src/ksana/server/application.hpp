#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/api/admin/admin_routes.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::server {

// The dependencies of the application. The referenced objects must outlive it.
struct ApplicationParts {
    Clock& clock;
    Random& random;  // must be thread-safe
    UuidGenerator& ids;
    std::string version;
    bool demo = false;  // add the demo target and job (demo.hpp)
    // Further executors, for the library; they come first, so the planner starts their runs itself.
    std::vector<engine::Executor*> executors = {};
    api::AdminJobs* admin = nullptr;  // the jobs of the admin routes; null: those of the store
    bool listen = true;               // false: the HTTP server is not started
    std::map<std::string_view, SettingOrigin> origins;  // of the settings, for /api/v1
    std::map<std::string, std::string> variables = {};  // those named OTEL_… are read
};

// The composition root: makes all parts from the settings, and starts and stops them in order (the
// server stops first, the clients for calls and mails after the engine). Owned by the command
// `ksana server`, which calls Start and Stop on the main thread; both are thread-safe, as in every
// Service. If a part does not start, Start stops the others and returns the error.
class Application final : public Service {
    struct Everything;
    struct Key {};  // only Make can construct one

  public:
    // Opens the store, migrates it to the newest schema, and makes all parts without starting them.
    // The error of a bad setting names it.
    static Result<std::unique_ptr<Application>> Make(const Settings& settings,
                                                     const ApplicationParts& parts);
    Application(Key key, std::unique_ptr<Everything> everything);
    ~Application() override;

    std::string_view name() const override { return "ksana"; }
    Result<void> Start() override;
    // K-18: accepts no new requests, lets calls in flight finish, and writes their results.
    void Stop() override;
    // Stop with another time for running calls than that of the settings.
    void StopWithin(Duration drain);

    std::uint16_t port() const;
    std::string url() const;  // made of the address it listens on, "http://127.0.0.1:7100"
    engine::JobService& job_service();
    store::Store& store();
    // Whether other processes may use the same store.
    bool is_shared() const;
    // Fails with kInternal if a loop of the engine hangs. For watchdogs; thread-safe.
    Result<void> Alive() const;

  private:
    Result<void> StartParts();

    std::unique_ptr<Everything> all_;
    Mutex mutex_;
    bool running_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::server

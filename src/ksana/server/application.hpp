#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::server {

// What the whole server stands on. All must outlive it.
struct ApplicationParts {
    Clock& clock;
    Random& random;  // thread-safe
    UuidGenerator& ids;
    std::string version;
    bool demo = false;  // with the target and the job of docs' first minute
    std::map<std::string_view, SettingOrigin> origins;  // of the settings, to be shown
};

// The composition root: makes everything from the settings, starts it in order and stops it in
// reverse. Nothing below it knows more than it was given.
class Application final : public Service {
    struct Everything;
    struct Key {};  // only Make has one

  public:
    // Opens the store (and brings it to the newest schema). An error names what must be changed.
    static Result<std::unique_ptr<Application>> Make(const Settings& settings,
                                                     const ApplicationParts& parts);
    Application(Key key, std::unique_ptr<Everything> everything);
    ~Application() override;

    std::string_view name() const override { return "ksana"; }
    Result<void> Start() override;
    // K-18: no new requests, running calls may finish, everything is written.
    void Stop() override;

    std::uint16_t port() const;
    std::string url() const;  // where clients reach it
    engine::JobService& job_service();
    // An error when a part of the process has stopped working; for watchdogs.
    Result<void> Alive() const;

  private:
    Result<void> StartParts();

    std::unique_ptr<Everything> all_;
    Mutex mutex_;
    bool running_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::server

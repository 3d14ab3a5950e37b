#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/exec/http_call.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/mail/mailer.hpp"

namespace ksana::exec {

// Carries out attempts of HTTP jobs: one call each (K-01, K-09, K-10). What cannot be sent ends at
// once as a permanent failure. A call that ends because the client stops is a failure to be tried
// again, not a cancelled run: nobody asked for that.
// A notice that goes to addresses is handed to the mailer with the time that is left of it; it can
// be cancelled until it is on its way, and ends in time then. The client, the clock and the mailer
// must outlive it; client and mailer must be stopped before it goes.
class HttpExecutor final : public engine::Executor {
  public:
    // Without a mailer (null) mails are permanent failures.
    HttpExecutor(http_client::Client& client, const Clock& clock, HttpCallOptions options = {},
                 mail::Mailer* mailer = nullptr);

    model::ActionKind kind() const override { return model::ActionKind::kHttp; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override;

  private:
    // A call of an attempt under way.
    struct Call {
        std::optional<http_client::CallId> call;  // none: about to be sent
        bool cancelled = false;
    };

    struct TextHash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    void SendMail(const engine::ActiveAttempt& attempt, Done done);
    void Enter(const std::string& exec_id);
    void NoteSent(const std::string& exec_id, http_client::CallId call);
    bool Leave(const std::string& exec_id);

    http_client::Client& client_;
    const Clock& clock_;
    const HttpCallOptions options_;
    mail::Mailer* const mailer_;
    Mutex mutex_;
    // By exec_id.
    std::unordered_map<std::string, Call, TextHash, std::equal_to<>> calls_
        KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::exec

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

// Executes attempts of HTTP jobs, one call each (K-01, K-09, K-10). A request that cannot be built
// ends at once: as a timeout if no time is left, otherwise as a permanent failure. A call that ends
// because the client stops is a retryable failure, not a cancelled run. A callback to a mailto:
// address is handed to the mailer with the remaining time of the attempt as deadline; it can be
// cancelled until its transmission begins. Owned by the server. Thread-safe; `done` is called on
// the thread of the client or mailer, or inside Start. The client, the clock and the mailer must
// outlive the executor; client and mailer must be stopped first.
class HttpExecutor final : public engine::Executor {
  public:
    // Without a mailer (null), mails are permanent failures.
    HttpExecutor(http_client::Client& client, const Clock& clock, HttpCallOptions options = {},
                 mail::Mailer* mailer = nullptr);

    model::ActionKind kind() const override { return model::ActionKind::kHttp; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override;

  private:
    // A call in flight.
    struct Call {
        std::optional<http_client::CallId> call;  // none: Send has not returned yet
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
    // Calls in flight, by exec_id.
    std::unordered_map<std::string, Call, TextHash, std::equal_to<>> calls_
        KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::exec

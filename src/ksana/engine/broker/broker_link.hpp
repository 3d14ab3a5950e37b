#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/broker/broker.hpp"

namespace ksana::engine {

// A link that is opened again when it breaks, with pauses that grow to ten seconds. One thread uses
// it and waits on it; Nudge and the figures are for any thread.
class BrokerLink {
  public:
    // Called with each new link; an error makes it be given up. `broker`, `clock` and `random` must
    // outlive the object.
    using Prepare = std::function<Result<void>(broker::Link& link)>;
    BrokerLink(broker::Broker& broker, Clock& clock, Random& random, std::string purpose,
               Prepare prepare);

    // Returns the link, opened if it is time for that; null: there is none now.
    broker::Link* Get();
    // When Get may return a link again.
    SteadyPoint retry_at() const { return retry_at_; }
    // Gives the link up if the error says that it is of no more use. Returns whether it did.
    bool Lose(const Error& error);
    void Close();

    // Waits until Nudge is called, a message comes in, or the time has come. Keeps the link alive
    // meanwhile.
    void WaitUntil(SteadyPoint until, const std::stop_token& stop);
    // Likewise, but messages that come in do not end it: for who cannot take any now.
    void PauseUntil(SteadyPoint until, const std::stop_token& stop);
    void Nudge();

    bool connected() const;
    // Why there is no link, or why the broker takes no messages; none: all is well.
    std::optional<Error> fault() const;

  private:
    void Fail(Error error);
    // Waits on the link. The broker says only once that it has ended a consumer: then the link is
    // given up, and the next one consumes.
    void Listen(broker::Link& link, Duration wait);
    std::shared_ptr<broker::Link> Present() const;

    broker::Broker& broker_;
    Clock& clock_;
    Random& random_;
    const std::string purpose_;
    const Prepare prepare_;
    Wakeup wakeup_;
    SteadyPoint retry_at_{};  // used by the one thread
    Duration pause_{};        // likewise

    mutable Mutex mutex_;
    // Changed by the one thread only.
    std::shared_ptr<broker::Link> link_ KSANA_GUARDED_BY(mutex_);
    std::optional<Error> error_ KSANA_GUARDED_BY(mutex_);
    // As the one thread saw it last: others may not ask the link.
    bool blocked_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::engine

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"

namespace ksana::server {

// Tells systemd how the service is (sd_notify), where it runs under systemd; else does nothing.
class SystemdNotice {
  public:
    // The variables NOTIFY_SOCKET and WATCHDOG_USEC.
    explicit SystemdNotice(const std::map<std::string, std::string>& environment);

    void Ready() const { Send("READY=1"); }
    void Stopping() const { Send("STOPPING=1"); }
    void Alive() const { Send("WATCHDOG=1"); }

    // How often Alive is to be called: half the time after which systemd restarts the service.
    const std::optional<Duration>& alive_every() const { return alive_every_; }

  private:
    // A notice that cannot be sent is not worth an error: systemd will act as if it had not come.
    void Send(std::string_view state) const;

    std::string socket_;
    std::optional<Duration> alive_every_;
};

}  // namespace ksana::server

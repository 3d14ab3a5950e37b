#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"

namespace ksana::server {

// Notifies systemd of the state of the service (the sd_notify protocol). Does nothing outside
// systemd. Owned by the command `ksana server`. Thread-safe, as it is immutable.
class SystemdNotice {
  public:
    // Reads the variables NOTIFY_SOCKET and WATCHDOG_USEC.
    explicit SystemdNotice(const std::map<std::string, std::string>& environment);

    void Ready() const { Send("READY=1"); }
    void Stopping() const { Send("STOPPING=1"); }
    void Alive() const { Send("WATCHDOG=1"); }

    // Interval at which to call Alive: half of systemd's watchdog timeout. Nullopt: no watchdog.
    const std::optional<Duration>& alive_every() const { return alive_every_; }

  private:
    // Ignores errors: systemd acts as if the notice had not come.
    void Send(std::string_view state) const;

    std::string socket_;
    std::optional<Duration> alive_every_;
};

}  // namespace ksana::server

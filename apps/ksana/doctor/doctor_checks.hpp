#pragma once

#include <string>
#include <vector>

#include "apps/ksana/doctor/doctor_finding.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::app {

// Looks at the machine; each takes a few seconds at most.

Finding CheckStore(const server::Settings& settings, const Process& process);
// Of the folder in which the store's files are, or would be; nothing where it has none.
std::vector<Finding> CheckFolder(const server::Settings& settings, const Process& process);
Finding CheckDescriptors(const server::Settings& settings);
Finding CheckZones(const Process& process);
// What is loaded when it is first needed, which may be at night: libcurl. That of PostgreSQL is
// loaded with the store.
Finding CheckLibraries();
Finding CheckEgress(const server::Settings& settings);
// The files that the settings name: token, certificate and key, log.
std::vector<Finding> CheckFiles(const server::Settings& settings);
// Whether the port is free, or a server answers there and how it is.
Finding CheckPort(const server::Settings& settings, const Process& process);

// Begun first and ended last: what the two clocks did in between.
class ClockCheck {
  public:
    explicit ClockCheck(const Process& process)
        : process_(process), wall_(process.clock.Now()), steady_(process.clock.SteadyNow()) {}
    Finding End() const;

  private:
    const Process& process_;
    TimePoint wall_;
    SteadyPoint steady_;
};

}  // namespace ksana::app

#pragma once

#include <string>
#include <vector>

#include "apps/ksana/doctor/doctor_finding.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::app {

// The checks look at the machine. Each takes a few seconds at most.

Finding CheckStore(const server::Settings& settings, const Process& process);
// Looks for damage in the files of the store, and with `repair` accepts it first. Reads all of
// them, which may take minutes. Empty if the store has no files, or there is none yet.
std::vector<Finding> CheckDamage(const server::Settings& settings, bool repair,
                                 const Process& process);
// Takes and frees a lock on the server that the setting `lock` names. Empty for the locks of the
// store and of the process.
std::vector<Finding> CheckLocks(const server::Settings& settings, const Process& process);
// Connects to the message broker and looks at its queue of reports. Empty without a broker.
std::vector<Finding> CheckBroker(const server::Settings& settings, const Process& process);
// Checks the folder that holds, or would hold, the store's files. Empty if the store has no folder.
std::vector<Finding> CheckFolder(const server::Settings& settings, const Process& process);
Finding CheckDescriptors(const server::Settings& settings);
Finding CheckZones(const Process& process);
// Checks libcurl, which is loaded on first use, possibly long after the start. The library of
// PostgreSQL is checked with the store.
Finding CheckLibraries();
Finding CheckEgress(const server::Settings& settings);
// Checks the files that the settings name: token, certificate and key, log.
// How commands would run; nothing if the server runs none.
std::vector<Finding> CheckCommands(const server::Settings& settings);
std::vector<Finding> CheckFiles(const server::Settings& settings);
// Checks whether the port is free. If it is in use, asks whether a ksana server listens there, and
// whether it is ready.
Finding CheckPort(const server::Settings& settings, const Process& process);

// Compares the wall clock with the monotonic clock over its lifetime: create it first and call
// End() after all other checks. `process` must outlive it. One thread.
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

#pragma once

#include <string>
#include <vector>

#include "ksana/telemetry/registry.hpp"

namespace ksana::telemetry {

// What every process tells Prometheus about itself, under the names that all programs use:
// process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds,
// process_start_time_seconds. Read from /proc at each scrape; what cannot be read is left out.
class ProcessMetrics {
  public:
    // `proc`: another folder than /proc, for tests.
    explicit ProcessMetrics(Registry& registry, const std::string& proc = "/proc");

  private:
    std::vector<CallbackHandle> callbacks_;
};

}  // namespace ksana::telemetry

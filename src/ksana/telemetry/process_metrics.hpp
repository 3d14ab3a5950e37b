#pragma once

#include <string>
#include <vector>

#include "ksana/telemetry/registry.hpp"

namespace ksana::telemetry {

// Metrics of the process under the usual Prometheus names: process_cpu_seconds_total,
// process_resident_memory_bytes, process_open_fds, process_start_time_seconds. The start time is
// read from /proc once, by the constructor, the others at each scrape, on the scraping thread. A
// value that cannot be read is omitted.
class ProcessMetrics {
  public:
    // `proc`: the folder to read, for tests.
    explicit ProcessMetrics(Registry& registry, const std::string& proc = "/proc");

  private:
    std::vector<CallbackHandle> callbacks_;
};

}  // namespace ksana::telemetry

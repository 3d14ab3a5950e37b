#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_server/server.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/telemetry/process_metrics.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::worker {

class Wire;
class WorkerLoop;

// What a worker counts, for Prometheus. Made before the loop, which it looks at from Watch on.
// Thread-safe.
class WorkerMetrics {
  public:
    // `version`: of the program. `clock` must outlive the object.
    WorkerMetrics(const std::string& version, const Clock& clock);

    // Counts the end of an attempt.
    void Count(const model::Run& run, const model::Event& event, Duration took);
    // `loop` and `wire` must outlive the object, or the call of Unwatch.
    void Watch(const WorkerLoop& loop, const Wire& wire, std::size_t slots);
    void Unwatch() { callbacks_.clear(); }

    telemetry::ScrapeAnswer Answer(std::string_view accept) const {
        return registry_.Answer(accept);
    }

  private:
    void AddSuccessRatio();

    const Clock& clock_;
    telemetry::Registry registry_;
    telemetry::ProcessMetrics process_;
    telemetry::Family<telemetry::Counter>& attempts_;
    telemetry::Family<telemetry::Histogram>& durations_;
    std::atomic<std::uint64_t> succeeded_{0};
    std::atomic<std::uint64_t> failed_{0};  // or timed out
    telemetry::CallbackHandle success_ratio_;
    telemetry::CallbackHandle build_info_;
    std::vector<telemetry::CallbackHandle> callbacks_;
};

// Serves the metrics at /metrics of this address, "127.0.0.1:9100", and says at /health that the
// process lives. `metrics`, `clock` and `random` must outlive the server.
Result<std::unique_ptr<http_server::Server>> MakeMetricsServer(const std::string& listen,
                                                               const WorkerMetrics& metrics,
                                                               const Clock& clock, Random& random);

}  // namespace ksana::worker

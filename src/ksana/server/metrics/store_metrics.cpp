#include "ksana/server/metrics/store_metrics.hpp"

#include "ksana/store/wrapped/wrapped_store.hpp"

namespace ksana::server {
namespace {

// Upper bounds in seconds: 0.25 ms … 10 s.
std::vector<double> CallBuckets() {
    return {0.00025, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10};
}

}  // namespace

StoreMeter::StoreMeter(telemetry::Registry& registry, const Clock& clock)
    : clock_(clock),
      durations_(registry.AddHistograms({"ksana_store_call_duration_seconds",
                                         "How long calls of the store took, to the end of their "
                                         "commit, whatever they returned.",
                                         {"operation"}},
                                        CallBuckets())),
      errors_(registry.AddCounters({"ksana_store_errors_total",
                                    "Errors that calls of the store returned. not_found, "
                                    "already_exists, conflict and invalid_argument are answers; "
                                    "the other codes are faults.",
                                    {"operation", "code"}})) {}

telemetry::Histogram& StoreMeter::DurationsOf(std::string_view operation) {
    const MutexLock lock(mutex_);
    telemetry::Histogram*& known = known_[operation];
    if (known == nullptr) known = &durations_.With({operation});
    return *known;
}

void StoreMeter::CountError(std::string_view operation, Code code) {
    errors_.With({operation, Info(code).name}).Add();
}

std::unique_ptr<store::Store> MakeMeteredStore(store::Store& inner, telemetry::Registry& registry,
                                               const Clock& clock) {
    return std::make_unique<store::WrappedStore<StoreMeter>>(inner, registry, clock);
}

}  // namespace ksana::server

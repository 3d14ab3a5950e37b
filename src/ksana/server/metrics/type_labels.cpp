#include "ksana/server/metrics/type_labels.hpp"

#include "ksana/telemetry/metric.hpp"

namespace ksana::server {

std::string TypeLabels::Of(model::ActionKind kind, const std::string& type) {
    const MutexLock lock(mutex_);
    if (known_.size() < kMostTypes) known_.emplace(kind, type);
    return known_.contains({kind, type}) ? type : std::string(telemetry::kOtherValue);
}

}  // namespace ksana::server

#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/server/metrics/type_labels.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// Counts the ends of attempts and runs by kind and type. Owned by EngineMetrics. Thread-safe.
class TypeMetrics {
  public:
    // `registry` and `labels` must outlive this object.
    TypeMetrics(telemetry::Registry& registry, TypeLabels& labels);

    // `took`: none if it is not known. `make` returns an exemplar.
    template <class Make>
    void CountAttempt(model::ActionKind kind, const std::string& type, model::EventKind outcome,
                      std::optional<Duration> took, const Make& make) {
        const MutexLock lock(mutex_);
        OneType& one = Find(kind, type);
        CountOutcome(kind, one, outcome);
        if (took) one.durations->Observe(*took, make);
    }
    void CountFinal(model::ActionKind kind, const std::string& type, model::RunState state);

  private:
    // What has been counted so far; the other pointers are null.
    struct OneType {
        std::string label;
        std::array<telemetry::Counter*, model::kEnumCount<model::EventKind>> outcomes{};
        std::array<telemetry::Counter*, model::kEnumCount<model::RunState>> states{};
        telemetry::Histogram* durations = nullptr;
    };

    OneType& Find(model::ActionKind kind, const std::string& type) KSANA_REQUIRES(mutex_);
    void CountOutcome(model::ActionKind kind, OneType& one, model::EventKind outcome)
        KSANA_REQUIRES(mutex_);

    TypeLabels& labels_;
    telemetry::Family<telemetry::Counter>& attempts_;
    telemetry::Family<telemetry::Counter>& runs_;
    telemetry::Family<telemetry::Histogram>& durations_;
    Mutex mutex_;
    // One map for each kind; types beyond the bound share the entry kOtherValue.
    std::array<std::map<std::string, OneType, std::less<>>, model::kEnumCount<model::ActionKind>>
        types_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::server

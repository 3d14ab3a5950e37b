#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string_view>

#include "ksana/base/process/mutex.hpp"
#include "ksana/telemetry/exposition.hpp"
#include "ksana/telemetry/metric.hpp"

namespace ksana::telemetry {

// All counters (or gauges, or histograms) of one metric name, one for each set of label values.
// Owned by the Registry. Thread-safe. A wrong number of label values aborts.
template <class Instrument>
class Family final : public Metric {
  public:
    using Make = std::function<std::unique_ptr<Instrument>()>;

    Family(MetricKind kind, MetricSpec spec, Make make)
        : Metric(kind, std::move(spec)), make_(std::move(make)) {}

    // Returns the instrument for these label values; the first call makes it, and scrapes show it
    // as 0 from then on. The instrument lives as long as the registry. Callers that use it often
    // keep the reference, because With takes a lock and copies the values.
    Instrument& With(std::initializer_list<std::string_view> values) {
        return With(std::span(values.begin(), values.size()));
    }
    Instrument& With(std::span<const std::string_view> values) {
        LabelValues clean = CleanValues(spec(), values);
        const MutexLock lock(mutex_);
        const auto found = members_.find(clean);
        if (found != members_.end()) return *found->second;
        if (members_.size() >= spec().max_label_sets) clean = OtherValues(spec());
        std::unique_ptr<Instrument>& member = members_[std::move(clean)];
        if (!member) member = make_();
        return *member;
    }

    void Write(Exposition& out) const override {
        out.Head(*this);
        const MutexLock lock(mutex_);
        for (const auto& [values, member] : members_) out.Write(spec(), values, *member);
    }

  private:
    const Make make_;
    mutable Mutex mutex_;
    // The mutex guards the map, not the instruments, which never move. No entry is ever removed.
    std::map<LabelValues, std::unique_ptr<Instrument>> members_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::telemetry

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

// The counters (gauges, histograms) of one name, one for each set of label values. Thread-safe.
template <class Instrument>
class Family final : public Metric {
  public:
    using Make = std::function<std::unique_ptr<Instrument>()>;

    Family(MetricKind kind, MetricSpec spec, Make make)
        : Metric(kind, std::move(spec)), make_(std::move(make)) {}

    // The one for these values, made when it is asked for the first time: a scrape shows it as 0
    // from then on. It lives as long as the registry; keep the reference where it is used often,
    // as this takes a lock and copies the values.
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
    // What it points to is not guarded, and stays where it is. Nothing is taken out.
    std::map<LabelValues, std::unique_ptr<Instrument>> members_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::telemetry

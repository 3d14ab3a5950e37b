#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/telemetry/callback_metric.hpp"
#include "ksana/telemetry/family.hpp"
#include "ksana/telemetry/instruments.hpp"
#include "ksana/telemetry/metric.hpp"

namespace ksana::telemetry {

// All metrics of a process, or of one node in a test: there is no global one. Owns what it hands
// out, so it is made before everything that counts and goes after it. Thread-safe. A name that is
// taken or wrong is a programmer error.
//
//   Family<Counter>& runs = registry.AddCounters({"ksana_runs_total", "Runs by outcome.",
//   {"outcome"}}); Counter& failed = runs.With({"failed"});  // once failed.Add(); // often
class Registry {
  public:
    // Without labels: shown as 0 from the start.
    Counter& AddCounter(MetricSpec spec);
    Gauge& AddGauge(MetricSpec spec);
    Histogram& AddHistogram(MetricSpec spec, std::vector<double> bounds);

    // With labels.
    Family<Counter>& AddCounters(MetricSpec spec);
    Family<Gauge>& AddGauges(MetricSpec spec);
    Family<Histogram>& AddHistograms(MetricSpec spec, std::vector<double> bounds);

    // Computed when scraped, with labels or without. The name is free again when the handle goes.
    CallbackHandle AddCallbackGauge(MetricSpec spec, Collect collect);
    CallbackHandle AddCallbackCounter(MetricSpec spec, Collect collect);

    // Every metric in the text format of Prometheus (exposition.hpp), in the order of their names.
    std::string Scrape() const;

  private:
    template <class Instrument>
    Family<Instrument>& AddFamily(MetricKind kind, MetricSpec spec,
                                  typename Family<Instrument>::Make make);
    CallbackHandle AddCallback(MetricKind kind, MetricSpec spec, Collect collect);
    void Add(std::shared_ptr<Metric> metric);

    mutable Mutex mutex_;
    std::vector<std::shared_ptr<Metric>> metrics_ KSANA_GUARDED_BY(mutex_);  // sorted by name
};

}  // namespace ksana::telemetry

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/telemetry/callback_metric.hpp"
#include "ksana/telemetry/exposition_format.hpp"
#include "ksana/telemetry/family.hpp"
#include "ksana/telemetry/instruments.hpp"
#include "ksana/telemetry/metric.hpp"

namespace ksana::telemetry {

struct ScrapeAnswer {
    std::string_view content_type;
    std::string text;
};

// The metrics of a process, or of one node in a test; there is no global registry. It owns the
// instruments that it returns, so it is made before the objects that count and destroyed after
// them. Thread-safe. An invalid name or one that is taken aborts.
//
//   Family<Counter>& runs =
//       registry.AddCounters({"ksana_runs_total", "Runs by outcome.", {"outcome"}});
//   Counter& failed = runs.With({"failed"});  // once
//   failed.Add();                             // often
class Registry {
  public:
    // Metrics without labels. Scrapes show them as 0 from the start.
    Counter& AddCounter(MetricSpec spec);
    Gauge& AddGauge(MetricSpec spec);
    Histogram& AddHistogram(MetricSpec spec, std::vector<double> bounds);

    // Metrics with labels.
    Family<Counter>& AddCounters(MetricSpec spec);
    Family<Gauge>& AddGauges(MetricSpec spec);
    Family<Histogram>& AddHistograms(MetricSpec spec, std::vector<double> bounds);

    // Metrics computed at each scrape, with or without labels. Destroying the handle frees the
    // name.
    CallbackHandle AddCallbackGauge(MetricSpec spec, Collect collect);
    CallbackHandle AddCallbackCounter(MetricSpec spec, Collect collect);

    // Returns all metrics in a text format (exposition.hpp), sorted by name.
    std::string Scrape(ExpositionFormat format = ExpositionFormat::kPrometheus) const;
    // Answers a request with this Accept header (ChooseFormat).
    ScrapeAnswer Answer(std::string_view accept) const;

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

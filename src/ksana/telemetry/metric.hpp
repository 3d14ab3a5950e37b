#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ksana::telemetry {

class Exposition;

enum class MetricKind : std::uint8_t { kCounter, kGauge, kHistogram };

// The public description of a metric. An invalid one aborts the process:
//   name    letters, digits and '_'; ends in _total for counters and only for counters
//   help    one sentence, never empty
//   labels  names of the labels that distinguish the samples; letters, digits and '_', no leading
//   "__"
struct MetricSpec {
    std::string name;
    std::string help;
    std::vector<std::string> labels = {};
    // Most sets of label values, so that labels chosen by clients cannot exhaust the memory.
    // Further sets share one set whose values are all kOtherValue.
    std::size_t max_label_sets = 500;
};

inline constexpr std::string_view kOtherValue = "other";

// A named metric that writes its samples. Owned by the Registry, for its whole life or until the
// CallbackHandle is destroyed (CallbackMetric). Any thread may call Write. An invalid spec aborts.
class Metric {
  public:
    Metric(MetricKind kind, MetricSpec spec);
    virtual ~Metric() = default;
    Metric(const Metric&) = delete;
    Metric& operator=(const Metric&) = delete;

    MetricKind kind() const { return kind_; }
    const MetricSpec& spec() const { return spec_; }
    // Returns every name that the metric uses in a text: a histogram has three besides its own, and
    // a counter is declared without "_total" in OpenMetrics.
    std::vector<std::string> NamesTaken() const;

    // Returns false once the registry may remove the metric.
    virtual bool alive() const { return true; }
    virtual void Write(Exposition& out) const = 0;

  private:
    const MetricKind kind_;
    const MetricSpec spec_;
};

using LabelValues = std::vector<std::string>;

// Returns the values with bytes that are not valid UTF-8 escaped, as they would make the whole
// scrape unreadable. Aborts unless there is one value per label.
LabelValues CleanValues(const MetricSpec& spec, std::span<const std::string_view> values);

// Returns the label values of the set shared beyond max_label_sets.
LabelValues OtherValues(const MetricSpec& spec);

}  // namespace ksana::telemetry

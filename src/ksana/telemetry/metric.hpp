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

// How a metric is known outside. A wrong one is a programmer error and ends the process:
//   name    letters, digits and '_'; a counter ends in _total and nothing else does
//   help    one sentence, never empty
//   labels  names of the labels that tell the samples apart; the same rule, and no "__" in front
struct MetricSpec {
    std::string name;
    std::string help;
    std::vector<std::string> labels = {};
    // A label that outsiders can choose must not fill the memory: beyond so many sets of values
    // the rest share one set, in which every value is kOtherValue.
    std::size_t max_label_sets = 500;
};

inline constexpr std::string_view kOtherValue = "other";

// Something with a name that can write itself down. Registered for good, or until its owner lets
// it go (CallbackMetric). Write is called by any thread.
class Metric {
  public:
    Metric(MetricKind kind, MetricSpec spec);
    virtual ~Metric() = default;
    Metric(const Metric&) = delete;
    Metric& operator=(const Metric&) = delete;

    MetricKind kind() const { return kind_; }
    const MetricSpec& spec() const { return spec_; }
    // Every name that appears in the text: a histogram has three beside its own.
    std::vector<std::string> NamesTaken() const;

    virtual bool alive() const { return true; }
    virtual void Write(Exposition& out) const = 0;

  private:
    const MetricKind kind_;
    const MetricSpec spec_;
};

using LabelValues = std::vector<std::string>;

// As many as there are names, or it is a programmer error. What is no UTF-8 would make the whole
// scrape unreadable: such bytes come out escaped.
LabelValues CleanValues(const MetricSpec& spec, std::span<const std::string_view> values);

// The values of the set that the rest share.
LabelValues OtherValues(const MetricSpec& spec);

}  // namespace ksana::telemetry

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ksana/telemetry/exposition_format.hpp"
#include "ksana/telemetry/instruments.hpp"
#include "ksana/telemetry/metric.hpp"

namespace ksana::telemetry {

// Writer of one text format. OpenMetrics differs from the Prometheus text in that counters are
// declared without "_total", units have a line of their own, bounds of buckets are written as
// floating-point numbers, samples may have exemplars, and the text has an end. Made for one scrape;
// not thread-safe.
class Exposition {
  public:
    explicit Exposition(ExpositionFormat format = ExpositionFormat::kPrometheus)
        : format_(format) {}

    // Writes the HELP, TYPE and UNIT lines. Comes before the samples of a metric.
    void Head(const Metric& metric);

    void Write(const MetricSpec& spec, const LabelValues& values, const Counter& counter);
    void Write(const MetricSpec& spec, const LabelValues& values, const Gauge& gauge);
    void Write(const MetricSpec& spec, const LabelValues& values, const Histogram& histogram);
    void Write(const MetricSpec& spec, const LabelValues& values, double value);

    // Returns the whole text. Nothing is written afterwards.
    std::string TakeText();

  private:
    bool IsOpen() const { return format_ == ExpositionFormat::kOpenMetrics; }
    std::string BoundText(double bound) const;
    void Head(std::string_view word, std::string_view name, std::string_view text);
    // Writes a sample up to its value. A non-empty `le` is an additional label.
    void Begin(const MetricSpec& spec, std::string_view suffix, const LabelValues& values,
               std::string_view le = "");
    void Label(std::string_view name, std::string_view value);
    void Value(std::uint64_t value);
    void Value(double value);
    // Writes the exemplar, if OpenMetrics is written, and asks for the next one.
    void WriteExemplar(const ExemplarSlots& slots, std::size_t slot);

    const ExpositionFormat format_;
    std::string text_;
};

// Returns the name of the metric family in OpenMetrics: that of a counter has no "_total".
std::string_view FamilyOf(MetricKind kind, std::string_view name);

// Returns the shortest text that parses to the same value; whole numbers below 1e15 have no
// exponent.
std::string NumberText(double value);

}  // namespace ksana::telemetry

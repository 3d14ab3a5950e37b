#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/telemetry/instruments.hpp"
#include "ksana/telemetry/metric.hpp"

namespace ksana::telemetry {

// Content-Type of the text.
inline constexpr std::string_view kExpositionContentType =
    "text/plain; version=0.0.4; charset=utf-8";

// Writer of the Prometheus text format, version 0.0.4. Made for one scrape; not thread-safe.
class Exposition {
  public:
    // Writes the HELP and TYPE lines. Comes before the samples of a metric.
    void Head(const Metric& metric);

    void Write(const MetricSpec& spec, const LabelValues& values, const Counter& counter);
    void Write(const MetricSpec& spec, const LabelValues& values, const Gauge& gauge);
    void Write(const MetricSpec& spec, const LabelValues& values, const Histogram& histogram);
    void Write(const MetricSpec& spec, const LabelValues& values, double value);

    std::string TakeText() { return std::move(text_); }

  private:
    // Writes a sample up to its value. A non-empty `le` is an additional label.
    void Begin(const MetricSpec& spec, std::string_view suffix, const LabelValues& values,
               std::string_view le = "");
    void Label(std::string_view name, std::string_view value);
    void End(std::uint64_t value);
    void End(double value);

    std::string text_;
};

// Returns the shortest text that parses to the same value; whole numbers below 1e15 have no
// exponent.
std::string NumberText(double value);

}  // namespace ksana::telemetry

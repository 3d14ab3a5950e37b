#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/telemetry/instruments.hpp"
#include "ksana/telemetry/metric.hpp"

namespace ksana::telemetry {

// What a server says that sends it.
inline constexpr std::string_view kExpositionContentType =
    "text/plain; version=0.0.4; charset=utf-8";

// The text format of Prometheus, version 0.0.4. Written by one thread.
class Exposition {
  public:
    // HELP and TYPE; before the samples of a metric.
    void Head(const Metric& metric);

    void Write(const MetricSpec& spec, const LabelValues& values, const Counter& counter);
    void Write(const MetricSpec& spec, const LabelValues& values, const Gauge& gauge);
    void Write(const MetricSpec& spec, const LabelValues& values, const Histogram& histogram);
    void Write(const MetricSpec& spec, const LabelValues& values, double value);

    std::string TakeText() { return std::move(text_); }

  private:
    // A sample up to its value; `le` is a label more, where it is not empty.
    void Begin(const MetricSpec& spec, std::string_view suffix, const LabelValues& values,
               std::string_view le = "");
    void Label(std::string_view name, std::string_view value);
    void End(std::uint64_t value);
    void End(double value);

    std::string text_;
};

// The shortest text that reads back the same; whole numbers without an exponent.
std::string NumberText(double value);

}  // namespace ksana::telemetry

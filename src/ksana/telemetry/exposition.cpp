#include "ksana/telemetry/exposition.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace ksana::telemetry {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"counter", "gauge", "histogram"};

template <class Number>
std::string Shortest(Number value) {
    std::array<char, 32> buffer{};  // a double needs at most 24
    const auto done = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), done.ptr};
}

// Escapes newlines and backslashes, as help texts and label values need. `quoted` is for label
// values, where quotes are escaped too.
void AppendEscaped(std::string& out, std::string_view text, bool quoted) {
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\\' || (quoted && c == '"')) {
            out += '\\';
            out += c;
        } else {
            out += c;
        }
    }
}

}  // namespace

std::string NumberText(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    constexpr double kWhole = 1e15;  // a double represents every whole number below this
    if (std::abs(value) < kWhole && std::trunc(value) == value) {
        return Shortest(static_cast<std::int64_t>(value));
    }
    return Shortest(value);
}

void Exposition::Head(const Metric& metric) {
    const MetricSpec& spec = metric.spec();
    text_.append("# HELP ").append(spec.name).append(" ");
    AppendEscaped(text_, spec.help, false);
    text_.append("\n# TYPE ").append(spec.name).append(" ");
    text_.append(kKindNames.at(static_cast<std::size_t>(metric.kind()))).append("\n");
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values, const Counter& counter) {
    Begin(spec, "", values);
    End(counter.value());
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values, const Gauge& gauge) {
    Write(spec, values, gauge.value());
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values, double value) {
    Begin(spec, "", values);
    End(value);
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values,
                       const Histogram& histogram) {
    const auto& bounds = histogram.bounds();
    std::uint64_t count = 0;
    for (std::size_t i = 0; i <= bounds.size(); ++i) {
        count += histogram.CountOf(i);
        Begin(spec, "_bucket", values, i < bounds.size() ? NumberText(bounds[i]) : "+Inf");
        End(count);
    }
    Begin(spec, "_sum", values);
    End(histogram.sum());
    Begin(spec, "_count", values);
    End(count);
}

void Exposition::Begin(const MetricSpec& spec, std::string_view suffix, const LabelValues& values,
                       std::string_view le) {
    text_.append(spec.name).append(suffix);
    if (values.empty() && le.empty()) return;
    text_ += '{';
    for (std::size_t i = 0; i < values.size(); ++i) Label(spec.labels.at(i), values[i]);
    if (!le.empty()) Label("le", le);
    text_.back() = '}';  // replaces the last comma
}

void Exposition::Label(std::string_view name, std::string_view value) {
    text_.append(name).append("=\"");
    AppendEscaped(text_, value, true);
    text_ += "\",";
}

void Exposition::End(std::uint64_t value) {
    text_.append(" ").append(Shortest(value)).append("\n");
}

void Exposition::End(double value) { text_.append(" ").append(NumberText(value)).append("\n"); }

}  // namespace ksana::telemetry

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
// values and for help texts of OpenMetrics, where quotes are escaped too.
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

constexpr std::string_view kTotal = "_total";

// Returns the unit that a name ends in; empty: none.
std::string_view UnitOf(std::string_view name) {
    for (const std::string_view unit : {"seconds", "bytes", "ratio"}) {
        if (name.ends_with(unit) && name.size() > unit.size() + 1 &&
            name[name.size() - unit.size() - 1] == '_') {
            return unit;
        }
    }
    return {};
}

}  // namespace

std::string_view FamilyOf(MetricKind kind, std::string_view name) {
    if (kind == MetricKind::kCounter) name.remove_suffix(kTotal.size());
    return name;
}

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
    const std::string_view name = IsOpen() ? FamilyOf(metric.kind(), spec.name) : spec.name;
    std::string help;
    AppendEscaped(help, spec.help, IsOpen());
    Head("HELP", name, help);
    Head("TYPE", name, kKindNames.at(static_cast<std::size_t>(metric.kind())));
    const std::string_view unit = UnitOf(name);
    if (IsOpen() && !unit.empty()) Head("UNIT", name, unit);
}

void Exposition::Head(std::string_view word, std::string_view name, std::string_view text) {
    text_.append("# ").append(word).append(" ").append(name).append(" ").append(text).append("\n");
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values, const Counter& counter) {
    Begin(spec, "", values);
    Value(counter.value());
    WriteExemplar(counter.exemplar(), 0);
    text_ += '\n';
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values, const Gauge& gauge) {
    Write(spec, values, gauge.value());
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values, double value) {
    Begin(spec, "", values);
    Value(value);
    text_ += '\n';
}

void Exposition::Write(const MetricSpec& spec, const LabelValues& values,
                       const Histogram& histogram) {
    const auto& bounds = histogram.bounds();
    std::uint64_t count = 0;
    for (std::size_t i = 0; i <= bounds.size(); ++i) {
        count += histogram.CountOf(i);
        Begin(spec, "_bucket", values, i < bounds.size() ? BoundText(bounds[i]) : "+Inf");
        Value(count);
        WriteExemplar(histogram.exemplars(), i);
        text_ += '\n';
    }
    Begin(spec, "_sum", values);
    Value(histogram.sum());
    text_ += '\n';
    Begin(spec, "_count", values);
    Value(count);
    text_ += '\n';
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

void Exposition::Value(std::uint64_t value) { text_.append(" ").append(Shortest(value)); }

void Exposition::Value(double value) { text_.append(" ").append(NumberText(value)); }

// OpenMetrics demands the form of a floating-point number, so that "1" and "1.0" are not two
// buckets.
std::string Exposition::BoundText(double bound) const {
    std::string text = NumberText(bound);
    if (IsOpen() && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

void Exposition::WriteExemplar(const ExemplarSlots& slots, std::size_t slot) {
    if (!IsOpen()) return;
    const auto kept = slots.Take(slot);
    if (!kept) return;
    text_ += " # {";
    Label("trace_id", kept->trace_id);
    text_.back() = '}';
    Value(kept->value);
    Value(std::chrono::duration<double>(kept->at.time_since_epoch()).count());
}

std::string Exposition::TakeText() {
    if (IsOpen()) text_ += "# EOF\n";
    return std::move(text_);
}

}  // namespace ksana::telemetry

#include "ksana/telemetry/metric.hpp"

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/telemetry/exposition.hpp"

namespace ksana::telemetry {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsLetterOrDigit(char c) { return IsLetter(c) || (c >= '0' && c <= '9'); }

// Prometheus also allows ':' in metric names, but reserves it for recording rules.
bool IsName(std::string_view name) {
    return !name.empty() && IsLetter(name[0]) && std::ranges::all_of(name, IsLetterOrDigit);
}

void CheckLabels(const std::vector<std::string>& labels, MetricKind kind) {
    for (auto label = labels.begin(); label != labels.end(); ++label) {
        KSANA_CHECK(IsName(*label) && !label->starts_with("__"), "not the name of a label");
        KSANA_CHECK(kind != MetricKind::kHistogram || *label != "le", "le is the bucket's label");
        KSANA_CHECK(std::find(labels.begin(), label, *label) == label, "a label stands twice");
    }
}

}  // namespace

Metric::Metric(MetricKind kind, MetricSpec spec) : kind_(kind), spec_(std::move(spec)) {
    KSANA_CHECK(IsName(spec_.name), "not the name of a metric");
    KSANA_CHECK(spec_.name.ends_with("_total") == (kind == MetricKind::kCounter),
                "the name of a counter ends in _total, and no other does");
    KSANA_CHECK(!spec_.help.empty() && IsUtf8(spec_.help), "a metric says what it means");
    KSANA_CHECK(spec_.max_label_sets > 0, "no room for a label set");
    CheckLabels(spec_.labels, kind);
}

std::vector<std::string> Metric::NamesTaken() const {
    const std::string& name = spec_.name;
    if (kind_ == MetricKind::kGauge) return {name};
    if (kind_ == MetricKind::kCounter) return {name, std::string(FamilyOf(kind_, name))};
    return {name, name + "_bucket", name + "_sum", name + "_count"};
}

LabelValues CleanValues(const MetricSpec& spec, std::span<const std::string_view> values) {
    KSANA_CHECK(values.size() == spec.labels.size(), "one value for each label");
    LabelValues clean;
    clean.reserve(values.size());
    for (const std::string_view value : values) {
        clean.push_back(IsUtf8(value) ? std::string(value) : Printable(value));
    }
    return clean;
}

LabelValues OtherValues(const MetricSpec& spec) {
    return {spec.labels.size(), std::string(kOtherValue)};
}

}  // namespace ksana::telemetry

#include "apps/ksana/top/metrics_text.hpp"

#include <charconv>
#include <limits>

namespace ksana::app {
namespace {

std::optional<double> ValueOf(std::string_view text) {
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

MetricsText::MetricsText(std::string_view text) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.empty() || line[0] == '#') continue;
        const std::size_t space = line.rfind(' ');
        if (space == std::string_view::npos) continue;
        const auto value = ValueOf(line.substr(space + 1));
        if (!value) continue;
        line = line.substr(0, space);
        const std::size_t brace = line.find('{');
        Series series{.labels = "", .value = *value};
        if (brace != std::string_view::npos && line.ends_with('}')) {
            series.labels = line.substr(brace + 1, line.size() - brace - 2);
        }
        series_[std::string(line.substr(0, brace))].push_back(std::move(series));
    }
}

std::optional<double> MetricsText::Sum(std::string_view name, std::string_view label) const {
    const auto found = series_.find(name);
    if (found == series_.end()) return std::nullopt;
    double sum = 0;
    for (const Series& series : found->second) {
        if (series.labels.find(label) != std::string::npos) sum += series.value;
    }
    return sum;
}

MetricsText::Buckets MetricsText::BucketsOf(std::string_view name) const {
    Buckets buckets;
    const auto found = series_.find(std::string(name).append("_bucket"));
    if (found == series_.end()) return buckets;
    constexpr std::string_view kBound = "le=\"";
    for (const Series& series : found->second) {
        const std::size_t at = series.labels.find(kBound);
        if (at == std::string::npos) continue;
        std::string_view bound = std::string_view(series.labels).substr(at + kBound.size());
        bound = bound.substr(0, bound.find('"'));
        if (const auto number = ValueOf(bound)) buckets[*number] += series.value;
    }
    return buckets;
}

std::optional<double> MetricsText::Quantile(std::string_view name, double share,
                                            const MetricsText& before) const {
    const Buckets now = BucketsOf(name);
    const Buckets then = before.BucketsOf(name);
    const auto since = [&then](double bound, double count) {
        const auto found = then.find(bound);
        // A smaller count than before means that the server restarted.
        return found == then.end() || found->second > count ? count : count - found->second;
    };
    if (now.empty()) return std::nullopt;
    const double all = since(now.rbegin()->first, now.rbegin()->second);
    if (all <= 0) return std::nullopt;
    for (const auto& [bound, count] : now) {
        if (since(bound, count) >= share * all) return bound;
    }
    return now.rbegin()->first;
}

}  // namespace ksana::app

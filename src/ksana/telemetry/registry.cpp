#include "ksana/telemetry/registry.hpp"

#include <algorithm>

#include "ksana/base/error/check.hpp"

namespace ksana::telemetry {
namespace {

const std::string& NameOf(const std::shared_ptr<Metric>& metric) { return metric->spec().name; }

bool NamesMeet(const Metric& one, const Metric& other) {
    const std::vector<std::string> names = one.NamesTaken();
    const std::vector<std::string> others = other.NamesTaken();
    return std::ranges::find_first_of(names, others) != names.end();
}

}  // namespace

Counter& Registry::AddCounter(MetricSpec spec) { return AddCounters(std::move(spec)).With({}); }

Gauge& Registry::AddGauge(MetricSpec spec) { return AddGauges(std::move(spec)).With({}); }

Histogram& Registry::AddHistogram(MetricSpec spec, std::vector<double> bounds) {
    return AddHistograms(std::move(spec), std::move(bounds)).With({});
}

Family<Counter>& Registry::AddCounters(MetricSpec spec) {
    return AddFamily<Counter>(MetricKind::kCounter, std::move(spec), std::make_unique<Counter>);
}

Family<Gauge>& Registry::AddGauges(MetricSpec spec) {
    return AddFamily<Gauge>(MetricKind::kGauge, std::move(spec), std::make_unique<Gauge>);
}

Family<Histogram>& Registry::AddHistograms(MetricSpec spec, std::vector<double> bounds) {
    return AddFamily<Histogram>(
        MetricKind::kHistogram, std::move(spec),
        [bounds = std::move(bounds)] { return std::make_unique<Histogram>(bounds); });
}

template <class Instrument>
Family<Instrument>& Registry::AddFamily(MetricKind kind, MetricSpec spec,
                                        typename Family<Instrument>::Make make) {
    auto family = std::make_shared<Family<Instrument>>(kind, std::move(spec), std::move(make));
    Add(family);
    return *family;
}

CallbackHandle Registry::AddCallbackGauge(MetricSpec spec, Collect collect) {
    return AddCallback(MetricKind::kGauge, std::move(spec), std::move(collect));
}

CallbackHandle Registry::AddCallbackCounter(MetricSpec spec, Collect collect) {
    return AddCallback(MetricKind::kCounter, std::move(spec), std::move(collect));
}

CallbackHandle Registry::AddCallback(MetricKind kind, MetricSpec spec, Collect collect) {
    KSANA_CHECK(collect != nullptr, "a callback that calls nothing");
    auto metric = std::make_shared<CallbackMetric>(kind, std::move(spec), std::move(collect));
    Add(metric);
    return CallbackHandle(std::move(metric));
}

void Registry::Add(std::shared_ptr<Metric> metric) {
    const MutexLock lock(mutex_);
    std::erase_if(metrics_, [](const auto& old) { return !old->alive(); });
    const bool taken =
        std::ranges::any_of(metrics_, [&](const auto& old) { return NamesMeet(*old, *metric); });
    KSANA_CHECK(!taken, "two metrics of one name: " + metric->spec().name);
    const auto place = std::ranges::lower_bound(metrics_, NameOf(metric), {}, NameOf);
    metrics_.insert(place, std::move(metric));
}

std::string Registry::Scrape(ExpositionFormat format) const {
    // Callbacks run without the registry's lock, so that a slow callback does not block
    // registration and a callback may register metrics.
    std::vector<std::shared_ptr<Metric>> metrics;
    {
        const MutexLock lock(mutex_);
        metrics = metrics_;
    }
    Exposition out(format);
    for (const auto& metric : metrics) metric->Write(out);
    return out.TakeText();
}

ScrapeAnswer Registry::Answer(std::string_view accept) const {
    const ExpositionFormat format = ChooseFormat(accept);
    return {ContentTypeOf(format), Scrape(format)};
}

}  // namespace ksana::telemetry

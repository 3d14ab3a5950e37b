#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ksana::app {

// What /metrics said (Prometheus' text format), for reading a few values out of it. Lines that are
// not understood are passed over: another version may say more.
class MetricsText {
  public:
    MetricsText() = default;
    explicit MetricsText(std::string_view text);

    // The sum over all series of this name, or over those whose labels hold `label` (written as in
    // the text: state="queued"). Nothing where there is none.
    std::optional<double> Sum(std::string_view name, std::string_view label = "") const;

    // The share of a histogram's samples since `before` (empty: since the start), in seconds: the
    // upper bound of the bucket that holds it. Nothing without samples.
    std::optional<double> Quantile(std::string_view name, double share,
                                   const MetricsText& before) const;

  private:
    struct Series {
        std::string labels;  // what stands between the braces
        double value = 0;
    };
    using Buckets = std::map<double, double>;  // samples up to a bound
    Buckets BucketsOf(std::string_view name) const;

    std::map<std::string, std::vector<Series>, std::less<>> series_;
};

}  // namespace ksana::app

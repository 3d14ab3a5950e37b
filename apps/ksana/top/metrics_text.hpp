#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ksana::app {

// A parsed answer of /metrics (Prometheus text format), for looking up a few values. Unknown lines
// are skipped: another version of the server may have more. Immutable.
class MetricsText {
  public:
    MetricsText() = default;
    explicit MetricsText(std::string_view text);

    // Returns the sum over all series of this name whose labels contain `label`, written as in the
    // text: state="queued". None if there is no series of this name.
    std::optional<double> Sum(std::string_view name, std::string_view label = "") const;

    // Returns a quantile of a histogram in seconds, for the samples since `before` (empty: since
    // the server's start): the upper bound of the bucket that holds it. None without samples.
    std::optional<double> Quantile(std::string_view name, double share,
                                   const MetricsText& before) const;

  private:
    struct Series {
        std::string labels;  // the text between the braces
        double value = 0;
    };
    using Buckets = std::map<double, double>;  // number of samples by upper bound
    Buckets BucketsOf(std::string_view name) const;

    std::map<std::string, std::vector<Series>, std::less<>> series_;
};

}  // namespace ksana::app

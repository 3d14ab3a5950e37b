#include "apps/ksana/top/metrics_text.hpp"

#include <gtest/gtest.h>

namespace ksana::app {
namespace {

constexpr std::string_view kText =
    "# HELP ksana_fires_total Runs that fires have made.\n"
    "# TYPE ksana_fires_total counter\n"
    "ksana_fires_total 12\n"
    "ksana_runs_waiting{kind=\"http\",state=\"queued\"} 3\n"
    "ksana_runs_waiting{kind=\"queue\",state=\"queued\"} 4\n"
    "ksana_runs_waiting{kind=\"http\",state=\"running\"} 1\n"
    "late_bucket{le=\"0.001\"} 50\nlate_bucket{le=\"0.01\"} 99\nlate_bucket{le=\"+Inf\"} 100\n"
    "what is this\nbroken{ 7x\n";

TEST(MetricsText, SumsSeries) {
    const MetricsText metrics(kText);
    EXPECT_EQ(metrics.Sum("ksana_fires_total"), 12);
    EXPECT_EQ(metrics.Sum("ksana_runs_waiting"), 8);
    EXPECT_EQ(metrics.Sum("ksana_runs_waiting", "state=\"queued\""), 7);
    EXPECT_EQ(metrics.Sum("ksana_runs_waiting", "state=\"held\""), 0);
    EXPECT_EQ(metrics.Sum("ksana_fires"), std::nullopt);
}

TEST(MetricsText, QuantilesAreOfWhatCameSince) {
    const MetricsText metrics(kText);
    EXPECT_EQ(metrics.Quantile("late", 0.5, {}), 0.001);
    EXPECT_EQ(metrics.Quantile("late", 0.99, {}), 0.01);
    const MetricsText before(
        "late_bucket{le=\"0.001\"} 50\nlate_bucket{le=\"0.01\"} 98\n"
        "late_bucket{le=\"+Inf\"} 99\n");
    EXPECT_EQ(metrics.Quantile("late", 0.5, before), 0.01) << "one came, and it was slow";
    EXPECT_EQ(metrics.Quantile("late", 0.5, metrics), std::nullopt) << "none came";
    EXPECT_EQ(metrics.Quantile("none", 0.5, {}), std::nullopt);
}

}  // namespace
}  // namespace ksana::app

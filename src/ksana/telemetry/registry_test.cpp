#include "ksana/telemetry/registry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "ksana/telemetry/exposition.hpp"
#include "ksana/telemetry/instruments.hpp"

namespace ksana::telemetry {
namespace {

TEST(Registry, NothingRegisteredIsAnEmptyText) { EXPECT_EQ(Registry().Scrape(), ""); }

TEST(Registry, MetricsWithoutLabelsAreShownFromTheStartInTheOrderOfNames) {
    Registry registry;
    Gauge& slots = registry.AddGauge({"ksana_slots", "Free slots."});
    Counter& fires = registry.AddCounter({"ksana_fires_total", "Fires planned."});
    EXPECT_EQ(registry.Scrape(),
              "# HELP ksana_fires_total Fires planned.\n"
              "# TYPE ksana_fires_total counter\n"
              "ksana_fires_total 0\n"
              "# HELP ksana_slots Free slots.\n"
              "# TYPE ksana_slots gauge\n"
              "ksana_slots 0\n");
    fires.Add();
    fires.Add(41);
    slots.Set(4);
    slots.Add(-1.5);
    EXPECT_EQ(registry.Scrape(),
              "# HELP ksana_fires_total Fires planned.\n"
              "# TYPE ksana_fires_total counter\n"
              "ksana_fires_total 42\n"
              "# HELP ksana_slots Free slots.\n"
              "# TYPE ksana_slots gauge\n"
              "ksana_slots 2.5\n");
}

TEST(Registry, AHistogramAddsItsBucketsUp) {
    Registry registry;
    Histogram& took =
        registry.AddHistogram({"ksana_call_seconds", "How long calls took."}, {0.005, 1, 2.5});
    took.Observe(0.005);  // equal to the bound: counted in its bucket
    took.Observe(std::chrono::milliseconds(500));
    took.Observe(2.0);
    took.Observe(100.0);
    took.Observe(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(registry.Scrape(),
              "# HELP ksana_call_seconds How long calls took.\n"
              "# TYPE ksana_call_seconds histogram\n"
              "ksana_call_seconds_bucket{le=\"0.005\"} 1\n"
              "ksana_call_seconds_bucket{le=\"1\"} 2\n"
              "ksana_call_seconds_bucket{le=\"2.5\"} 3\n"
              "ksana_call_seconds_bucket{le=\"+Inf\"} 4\n"
              "ksana_call_seconds_sum 102.505\n"
              "ksana_call_seconds_count 4\n");
}

TEST(Registry, AFamilyHasOneMemberForEachSetOfValues) {
    Registry registry;
    auto& runs = registry.AddCounters({"runs_total", "Runs.", {"type", "outcome"}});
    EXPECT_EQ(registry.Scrape(), "# HELP runs_total Runs.\n# TYPE runs_total counter\n");
    Counter& good = runs.With({"mail", "succeeded"});
    runs.With({"mail", "failed"}).Add(2);
    good.Add(7);
    EXPECT_EQ(&runs.With({"mail", "succeeded"}), &good);
    auto& took = registry.AddHistograms({"took_seconds", "Took.", {"type"}}, {1});
    took.With({"mail"}).Observe(0.25);
    EXPECT_EQ(registry.Scrape(),
              "# HELP runs_total Runs.\n"
              "# TYPE runs_total counter\n"
              "runs_total{type=\"mail\",outcome=\"failed\"} 2\n"
              "runs_total{type=\"mail\",outcome=\"succeeded\"} 7\n"
              "# HELP took_seconds Took.\n"
              "# TYPE took_seconds histogram\n"
              "took_seconds_bucket{type=\"mail\",le=\"1\"} 1\n"
              "took_seconds_bucket{type=\"mail\",le=\"+Inf\"} 1\n"
              "took_seconds_sum{type=\"mail\"} 0.25\n"
              "took_seconds_count{type=\"mail\"} 1\n");
}

TEST(Registry, HelpAndLabelValuesAreEscaped) {
    Registry registry;
    registry.AddGauges({"g", "a \\ b\n\"c\"", {"l"}}).With({"a \\ b\n\"c\""});
    EXPECT_EQ(registry.Scrape(),
              "# HELP g a \\\\ b\\n\"c\"\n"
              "# TYPE g gauge\n"
              "g{l=\"a \\\\ b\\n\\\"c\\\"\"} 0\n");
}

TEST(Registry, BytesThatAreNoUtf8DoNotSpoilTheScrape) {
    Registry registry;
    auto& gauges = registry.AddGauges({"g", "G.", {"l"}});
    gauges.With({"a\xff"}).Set(1);
    EXPECT_EQ(&gauges.With({"a\xff"}), &gauges.With({"a\\xff"}));
    EXPECT_EQ(registry.Scrape(), "# HELP g G.\n# TYPE g gauge\ng{l=\"a\\\\xff\"} 1\n");
}

TEST(Registry, TooManyLabelSetsShareOne) {
    Registry registry;
    auto& counters = registry.AddCounters(
        {.name = "c_total", .help = "C.", .labels = {"a", "b"}, .max_label_sets = 2});
    counters.With({"1", "x"}).Add();
    counters.With({"2", "x"}).Add();
    counters.With({"3", "x"}).Add();
    counters.With({"4", "y"}).Add();
    counters.With({"1", "x"}).Add();
    EXPECT_EQ(registry.Scrape(),
              "# HELP c_total C.\n"
              "# TYPE c_total counter\n"
              "c_total{a=\"1\",b=\"x\"} 2\n"
              "c_total{a=\"2\",b=\"x\"} 1\n"
              "c_total{a=\"other\",b=\"other\"} 2\n");
}

TEST(Registry, ACallbackIsAskedAtEachScrape) {
    Registry registry;
    double depth = 3;
    const auto handle =
        registry.AddCallbackGauge({"depth", "Runs waiting.", {"type"}}, [&](Samples& out) {
            out.Add({"mail"}, depth);
            out.Add({"bill"}, 1);
        });
    const std::string head = "# HELP depth Runs waiting.\n# TYPE depth gauge\n";
    EXPECT_EQ(registry.Scrape(), head + "depth{type=\"bill\"} 1\ndepth{type=\"mail\"} 3\n");
    depth = 4;
    EXPECT_EQ(registry.Scrape(), head + "depth{type=\"bill\"} 1\ndepth{type=\"mail\"} 4\n");
}

TEST(Registry, CallbackSamplesAreBoundedAndUnique) {
    Registry registry;
    const auto handle = registry.AddCallbackCounter(
        {.name = "c_total", .help = "C.", .labels = {"l"}, .max_label_sets = 2}, [](Samples& out) {
            for (const char* label : {"a", "b", "c", "d", "a"}) out.Add({label}, 1);
        });
    EXPECT_EQ(registry.Scrape(),
              "# HELP c_total C.\n"
              "# TYPE c_total counter\n"
              "c_total{l=\"a\"} 2\n"
              "c_total{l=\"b\"} 1\n"
              "c_total{l=\"other\"} 2\n");
}

TEST(Registry, ACallbackEndsWithItsHandleAndItsNameIsFreeAgain) {
    Registry registry;
    int calls = 0;
    const auto add = [&] {
        return registry.AddCallbackGauge({"g", "G."}, [&](Samples& out) { out.Add({}, ++calls); });
    };
    std::optional<CallbackHandle> handle = add();
    EXPECT_EQ(registry.Scrape(), "# HELP g G.\n# TYPE g gauge\ng 1\n");
    handle.reset();
    EXPECT_EQ(registry.Scrape(), "");
    CallbackHandle again = add();
    EXPECT_EQ(registry.Scrape(), "# HELP g G.\n# TYPE g gauge\ng 2\n");
    again = CallbackHandle();
    EXPECT_EQ(registry.Scrape(), "");
    EXPECT_EQ(calls, 2);
}

TEST(Registry, AHandleMayOutliveTheRegistry) {
    std::optional<CallbackHandle> handle;
    {
        Registry registry;
        handle = registry.AddCallbackGauge({"g", "G."}, [](Samples&) {});
    }
    handle.reset();
}

TEST(Registry, ACallbackMayRegisterAMetric) {
    Registry registry;
    Counter* made = nullptr;
    const auto handle = registry.AddCallbackGauge({"g", "G."}, [&](Samples&) {
        if (made == nullptr) made = &registry.AddCounter({"late_total", "Late."});
    });
    EXPECT_EQ(registry.Scrape(), "# HELP g G.\n# TYPE g gauge\n");
    EXPECT_NE(registry.Scrape().find("late_total 0"), std::string::npos);
}

TEST(RegistryDeathTest, ANameThatIsTakenIsAProgrammerError) {
    Registry registry;
    registry.AddCounter({"a_total", "A."});
    registry.AddHistogram({"h", "H."}, {1});
    EXPECT_DEATH(registry.AddCounters({"a_total", "A.", {"l"}}),
                 "two metrics of one name: a_total");
    EXPECT_DEATH(registry.AddGauge({"h_count", "H."}), "two metrics of one name");
}

TEST(RegistryDeathTest, AWrongNameIsAProgrammerError) {
    Registry registry;
    for (const char* name : {"", "1a", "a-b", "a b", "a:b", "\xc3\xa4"}) {
        EXPECT_DEATH(registry.AddGauge({name, "G."}), "not the name of a metric") << name;
    }
    EXPECT_DEATH(registry.AddCounter({"a", "A."}), "_total");
    EXPECT_DEATH(registry.AddGauge({"a_total", "A."}), "_total");
    EXPECT_DEATH(registry.AddGauge({"a", ""}), "says what it means");
    EXPECT_DEATH(registry.AddGauges({"a", "A.", {"__l"}}), "not the name of a label");
    EXPECT_DEATH(registry.AddGauges({"a", "A.", {"l", "l"}}), "stands twice");
    EXPECT_DEATH(registry.AddHistograms({"a", "A.", {"le"}}, {1}), "bucket's label");
    EXPECT_DEATH(registry.AddGauge({"a", "A.", {"l"}}), "one value for each label");
}

TEST(RegistryDeathTest, WrongBoundsAreAProgrammerError) {
    EXPECT_DEATH(Histogram({}), "at least one bound");
    EXPECT_DEATH(Histogram({1, INFINITY}), "finite");
    EXPECT_DEATH(Histogram({1, 1}), "rise");
}

TEST(NumberText, IsShortAndReadsBackTheSame) {
    EXPECT_EQ(NumberText(0), "0");
    EXPECT_EQ(NumberText(-0.5), "-0.5");
    EXPECT_EQ(NumberText(0.1), "0.1");
    EXPECT_EQ(NumberText(100000), "100000");
    EXPECT_EQ(NumberText(1760000000.25), "1760000000.25");
    EXPECT_EQ(NumberText(1e300), "1e+300");
    EXPECT_EQ(NumberText(INFINITY), "+Inf");
    EXPECT_EQ(NumberText(-INFINITY), "-Inf");
    EXPECT_EQ(NumberText(NAN), "NaN");
}

TEST(Buckets, SpanWhatTheyAreFor) {
    EXPECT_EQ(LatenessBuckets().front(), 0.001);
    EXPECT_EQ(LatenessBuckets().back(), 60);
    EXPECT_EQ(DurationBuckets().front(), 0.005);
    EXPECT_EQ(DurationBuckets().back(), 600);
    (void)Histogram(LatenessBuckets());  // aborts if the bounds do not increase
    (void)Histogram(DurationBuckets());
}

}  // namespace
}  // namespace ksana::telemetry

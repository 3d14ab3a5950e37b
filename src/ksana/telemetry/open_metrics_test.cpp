#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "ksana/telemetry/exposition_format.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::telemetry {
namespace {

constexpr TimePoint kAt{std::chrono::milliseconds(1'760'000'000'250)};

// An exemplar that counts how often it was made.
struct Maker {
    std::string trace_id = "abc";
    int made = 0;
    Exemplar operator()() {
        ++made;
        return {.trace_id = trace_id, .at = kAt};
    }
};

TEST(ChooseFormat, PlainTextUnlessOpenMetricsIsPreferred) {  // D-14
    constexpr auto kPlain = ExpositionFormat::kPrometheus;
    constexpr auto kOpen = ExpositionFormat::kOpenMetrics;
    EXPECT_EQ(ChooseFormat(""), kPlain);
    EXPECT_EQ(ChooseFormat("*/*"), kPlain);
    EXPECT_EQ(ChooseFormat("text/html,application/json"), kPlain);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text"), kOpen);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text;version=1.0.0,"
                           "application/openmetrics-text;version=0.0.1;q=0.75,"
                           "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
              kOpen);
    EXPECT_EQ(ChooseFormat(" Application/OpenMetrics-Text ; Q=0.5 , text/plain ; q=0.5"), kOpen);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text;q=0.5,text/plain"), kPlain);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text;q=0"), kPlain);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text;q=2"), kPlain);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text;q=x"), kPlain);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text;q="), kPlain);
    EXPECT_EQ(ChooseFormat("application/openmetrics-text;version=2.0.0"), kPlain);
    EXPECT_EQ(ChooseFormat(",;,=;q,"), kPlain);
}

TEST(OpenMetrics, DeclaresFamiliesUnitsAndAnEnd) {
    Registry registry;
    registry.AddCounter({"ksana_work_seconds_total", "Say \"work\"."}).Add(2);
    registry.AddGauge({"ksana_slots", "Free slots."}).Set(4);
    registry.AddHistogram({"ksana_call_seconds", "Calls."}, {0.5, 1, 10}).Observe(0.75);
    const ScrapeAnswer answer = registry.Answer("application/openmetrics-text");
    EXPECT_EQ(answer.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_EQ(answer.text,
              "# HELP ksana_call_seconds Calls.\n"
              "# TYPE ksana_call_seconds histogram\n"
              "# UNIT ksana_call_seconds seconds\n"
              "ksana_call_seconds_bucket{le=\"0.5\"} 0\n"
              "ksana_call_seconds_bucket{le=\"1.0\"} 1\n"
              "ksana_call_seconds_bucket{le=\"10.0\"} 1\n"
              "ksana_call_seconds_bucket{le=\"+Inf\"} 1\n"
              "ksana_call_seconds_sum 0.75\n"
              "ksana_call_seconds_count 1\n"
              "# HELP ksana_slots Free slots.\n"
              "# TYPE ksana_slots gauge\n"
              "ksana_slots 4\n"
              "# HELP ksana_work_seconds Say \\\"work\\\".\n"
              "# TYPE ksana_work_seconds counter\n"
              "# UNIT ksana_work_seconds seconds\n"
              "ksana_work_seconds_total 2\n"
              "# EOF\n");
    EXPECT_EQ(registry.Answer("").content_type, "text/plain; version=0.0.4; charset=utf-8");
}

TEST(OpenMetrics, AnExemplarIsTakenOnceAfterEachScrapeThatAsks) {
    Registry registry;
    Histogram& took = registry.AddHistogram({"h", "H."}, {1});
    Counter& ended = registry.AddCounter({"c_total", "C."});
    Maker make;
    took.Observe(std::chrono::milliseconds(500), std::ref(make));
    ended.AddOne(std::ref(make));
    EXPECT_EQ(make.made, 0) << "nobody has asked";
    (void)registry.Scrape(ExpositionFormat::kOpenMetrics);
    for (int n = 0; n < 100; ++n) {
        took.Observe(std::chrono::milliseconds(500), std::ref(make));
        ended.AddOne(std::ref(make));
    }
    EXPECT_EQ(make.made, 2);
    const std::string text = registry.Scrape(ExpositionFormat::kOpenMetrics);
    EXPECT_NE(text.find("h_bucket{le=\"1.0\"} 101 # {trace_id=\"abc\"} 0.5 1760000000.25\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("h_bucket{le=\"+Inf\"} 101\n"), std::string::npos) << text;
    EXPECT_NE(text.find("c_total 101 # {trace_id=\"abc\"} 1 1760000000.25\n"), std::string::npos);
    EXPECT_EQ(registry.Scrape().find('{', registry.Scrape().find("# {")), std::string::npos)
        << "the plain text knows none";
    make.trace_id = "def";
    took.Observe(std::chrono::seconds(5), std::ref(make));
    took.Observe(std::chrono::milliseconds(1), std::ref(make));
    const std::string later = registry.Scrape(ExpositionFormat::kOpenMetrics);
    EXPECT_NE(later.find("103 # {trace_id=\"def\"} 5 "), std::string::npos) << later;
    EXPECT_NE(later.find("102 # {trace_id=\"def\"} 0.001 "), std::string::npos) << later;
    EXPECT_NE(later.find("c_total 101 # {trace_id=\"abc\"}"), std::string::npos)
        << "the old one stays until there is a new one";
}

TEST(OpenMetrics, AnExemplarIsBounded) {
    Registry registry;
    Counter& ended = registry.AddCounter({"c_total", "C."});
    const auto served = [&](std::size_t length) {
        (void)registry.Scrape(ExpositionFormat::kOpenMetrics);
        ended.AddOne([&] { return Exemplar{.trace_id = std::string(length, 'a'), .at = kAt}; });
        const std::string text = registry.Scrape(ExpositionFormat::kOpenMetrics);
        return text.find('"' + std::string(length, 'a') + '"') != std::string::npos;
    };
    EXPECT_TRUE(served(kMaxTraceId));
    EXPECT_FALSE(served(kMaxTraceId + 1));
    EXPECT_FALSE(served(0));
    EXPECT_EQ(kMaxTraceId + std::string_view("trace_id").size(), 128U);
}

TEST(OpenMetricsThreads, ScrapesAndObservationsMayMeet) {
    Registry registry;
    Histogram& took = registry.AddHistogram({"h", "H."}, {1});
    std::atomic<bool> over = false;
    std::jthread scraper([&] {
        while (!over) (void)registry.Scrape(ExpositionFormat::kOpenMetrics);
    });
    for (int n = 0; n < 20'000; ++n) {
        took.Observe(std::chrono::seconds(n % 2 * 5),
                     [&] { return Exemplar{.trace_id = std::to_string(n), .at = kAt}; });
    }
    over = true;
    scraper.join();
    EXPECT_EQ(took.CountOf(0) + took.CountOf(1), 20'000U);
}

TEST(RegistryDeathTest, ACounterTakesTheNameOfItsFamilyToo) {
    Registry registry;
    registry.AddCounter({"a_total", "A."});
    EXPECT_DEATH(registry.AddGauge({"a", "A."}), "two metrics of one name");
}

}  // namespace
}  // namespace ksana::telemetry

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "ksana/telemetry/registry.hpp"

namespace ksana::telemetry {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 2000;

// Runs `body` on several threads at once and waits for all of them.
template <class Body>
void InThreads(const Body& body) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&body, i] { body(i); });
}

TEST(RegistryThreads, NothingIsLostAndEveryScrapeAgreesWithItself) {
    Registry registry;
    auto& counters = registry.AddCounters({"c_total", "C.", {"thread"}});
    Counter& all = registry.AddCounter({"all_total", "All."});
    Gauge& gauge = registry.AddGauge({"g", "G."});
    Histogram& histogram = registry.AddHistogram({"h", "H."}, {1, 2});
    std::atomic<int> running = kThreads;
    std::jthread scraper([&] {
        do {
            const std::string text = registry.Scrape();
            const auto after = [&](const std::string& what) {
                const std::size_t at = text.find(what) + what.size();
                return text.substr(at, text.find('\n', at) - at);
            };
            EXPECT_EQ(after("h_bucket{le=\"+Inf\"} "), after("h_count "));
        } while (running > 0);
    });
    InThreads([&](int thread) {
        const std::string label = std::to_string(thread % 2);
        for (int i = 0; i < kRounds; ++i) {
            counters.With({label}).Add();
            all.Add();
            gauge.Add(1);
            histogram.Observe(static_cast<double>(i % 4));
        }
        --running;
    });
    scraper.join();
    constexpr std::uint64_t kAll = kThreads * kRounds;
    EXPECT_EQ(all.value(), kAll);
    EXPECT_EQ(counters.With({"0"}).value(), kAll / 2);
    EXPECT_EQ(gauge.value(), static_cast<double>(kAll));
    EXPECT_EQ(histogram.CountOf(0) + histogram.CountOf(1) + histogram.CountOf(2), kAll);
    EXPECT_EQ(histogram.sum(), 1.5 * static_cast<double>(kAll));
}

TEST(RegistryThreads, TheBoundOfLabelSetsHoldsForManyThreads) {
    Registry registry;
    auto& counters = registry.AddCounters(
        {.name = "c_total", .help = "C.", .labels = {"l"}, .max_label_sets = 10});
    InThreads([&](int thread) {
        for (int i = 0; i < 100; ++i) counters.With({std::to_string(thread * 100 + i)}).Add();
    });
    const std::string text = registry.Scrape();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 10 + 1);
    EXPECT_EQ(counters.With({kOtherValue}).value(), 390U);
}

// The callback reads data that is destroyed right after its handle.
TEST(RegistryThreads, ACallbackIsNeverCalledAfterItsHandle) {
    Registry registry;
    std::atomic<bool> over = false;
    std::jthread scraper([&] {
        while (!over) (void)registry.Scrape();
    });
    for (int i = 0; i < 500; ++i) {
        auto value = std::make_unique<int>(i);
        const auto handle =
            registry.AddCallbackGauge({"g", "G."}, [&value](Samples& out) { out.Add({}, *value); });
    }
    over = true;
}

}  // namespace
}  // namespace ksana::telemetry

#include "apps/ksana/top/top_frame.hpp"

#include <gtest/gtest.h>

#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using codec::Json;

TopData Example() {
    TopData data;
    data.at = ParseTime("2026-01-01T00:00:10Z").value();
    data.steady = SteadyPoint(std::chrono::seconds(10));
    data.server = "http://127.0.0.1:7100";
    data.version = "1.2.3";
    data.ready = true;
    data.metrics.emplace(
        "ksana_fires_total 120\nksana_attempts_under_way 2\n"
        "ksana_runs_waiting{kind=\"http\",state=\"queued\"} 5\n"
        "ksana_runs_finished_total{state=\"failed\"} 3\n"
        "ksana_start_lateness_seconds_bucket{le=\"0.005\"} 9\n"
        "ksana_start_lateness_seconds_bucket{le=\"+Inf\"} 9\n");
    data.next = {Json::Parse(R"({"id":"nightly","schedule":{"kind":"every","every":"5m"},
        "next_run_at":"2026-01-01T00:01:10Z","last_state":"succeeded"})")
                     .value()};
    data.failures = {Json::Parse(R"({"job_id":"nightly","state":"failed",
        "finished_at":"2026-01-01T00:00:00Z","last_error":"\u001b[31mrefused"})")
                         .value()};
    return data;
}

std::string Joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

TEST(TopFrame, ShowsWhatIsKnown) {
    EXPECT_EQ(Joined(TopFrame(Example(), nullptr, {}, {})),
              "ksana 1.2.3  http://127.0.0.1:7100  ok                      2026-01-01T00:00:10Z\n"
              "fires/s -   starts/s -   ends/s -   failures/s -   fires 120   failed 3\n"
              "running 2   queued 5   scheduled 0   held 0   late p50 <5ms   p99 <5ms\n"
              "\n"
              "Next fires\n"
              "JOB      SCHEDULE  NEXT RUN              LAST\n"
              "nightly  every 5m  2026-01-01T00:01:10Z  succeeded\n"
              "\n"
              "Running: none\n"
              "\n"
              "Last failures\n"
              "JOB      STATE   ENDED                 ERROR\n"
              "nightly  failed  2026-01-01T00:00:00Z  \\x1b[31mrefused\n");
}

TEST(TopFrame, CountsRatesSinceTheMomentBefore) {
    TopData before = Example();
    before.steady = SteadyPoint(std::chrono::seconds(8));
    before.metrics.emplace("ksana_fires_total 100\nksana_attempts_started_total 1\n");
    const std::string text = Joined(TopFrame(Example(), &before, {}, {}));
    EXPECT_NE(text.find("fires/s 10.0   starts/s -"), std::string::npos) << text;
    before.metrics.emplace("ksana_fires_total 500\n");
    EXPECT_NE(Joined(TopFrame(Example(), &before, {}, {})).find("fires/s 0.0"), std::string::npos)
        << "a counter that went back was started anew";
}

TEST(TopFrame, AListThatIsShortLeavesItsRowsToTheOthers) {
    TopData data = Example();
    data.next = std::vector<Json>(50, data.next[0]);
    const auto lines = TopFrame(data, nullptr, {}, {});
    EXPECT_EQ(lines.size(), 24U);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const auto& line) { return line.starts_with("nightly  every"); }),
              12);
    EXPECT_TRUE(lines.back().starts_with("nightly  failed"));
}

TEST(TopFrame, FitsIntoWhateverThereIs) {
    TopData data = Example();
    data.ready = false;
    data.health = "the server answered 503: [-] store failed";
    data.next = std::vector<Json>(50, data.next[0]);
    data.running = std::vector<Json>(50, Json::Parse(R"({"id":"r","job_id":"x"})").value());
    data.failures = std::vector<Json>(50, data.failures[0]);
    for (const TerminalSize size : {TerminalSize{80, 24}, {200, 60}, {40, 12}, {30, 8}, {1, 1}}) {
        const auto lines = TopFrame(data, nullptr, {}, size);
        EXPECT_LE(lines.size(), static_cast<std::size_t>(std::max(size.rows, 8)));
        for (const std::string& line : lines) {
            EXPECT_LE(TextWidth(line), static_cast<std::size_t>(std::max(size.columns, 30)))
                << line;
        }
    }
    data.metrics.reset();
    EXPECT_NE(Joined(TopFrame(data, nullptr, {}, {})).find("fires -"), std::string::npos);
}

}  // namespace
}  // namespace ksana::app

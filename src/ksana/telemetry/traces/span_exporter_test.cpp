#include "ksana/telemetry/traces/span_exporter.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<Span> SomeSpans(std::size_t count) {
    std::vector<Span> spans(count);
    for (Span& span : spans) {
        span.name = "one";
        span.end = span.start;
    }
    return spans;
}

std::size_t CountSpans(const std::string& body) {
    std::size_t count = 0;
    for (std::size_t at = body.find("\"spanId\""); at != std::string::npos;
         at = body.find("\"spanId\"", at + 1)) {
        ++count;
    }
    return count;
}

// An exporter that is stepped by hand, with a receiver that answers as told.
class SpanExporterTest : public testing::Test {
  protected:
    SpanExporterTest() {
        options_.gzip = false;
        options_.max_queue = 2'000;
    }

    SpanExporter& exporter() {
        if (!exporter_) {
            exporter_.emplace(
                options_,
                [this](const std::string& body, bool /*gzip*/, Duration timeout) {
                    sent_.push_back(CountSpans(body));
                    timeouts_.push_back(timeout);
                    clock_.Advance(takes_);
                    if (answers_.empty()) return ExportAnswer{.status = 200, .text = "{}"};
                    ExportAnswer answer = answers_.front();
                    if (answers_.size() > 1) answers_.erase(answers_.begin());
                    return answer;
                },
                registry_, clock_, random_);
        }
        return *exporter_;
    }

    bool Scraped(const std::string& line) const {
        return registry_.Scrape().find(line + "\n") != std::string::npos;
    }

    ExporterOptions options_;
    FakeClock clock_;
    SeededRandom random_{1};
    Registry registry_;
    std::vector<std::size_t> sent_;  // spans in each request
    std::vector<Duration> timeouts_;
    std::vector<ExportAnswer> answers_;  // the last one for ever
    Duration takes_{};
    std::optional<SpanExporter> exporter_;
};

// D-13
TEST_F(SpanExporterTest, SendsFullBatchesAtOnceAndTheRestAfterTheDelay) {
    exporter().Offer(SomeSpans(600));
    const SteadyPoint next = exporter().Step();
    EXPECT_EQ(sent_, std::vector<std::size_t>{512});
    EXPECT_EQ(next, clock_.SteadyNow() + seconds(5));
    clock_.Advance(milliseconds(4'999));
    exporter().Step();
    EXPECT_EQ(sent_.size(), 1U);
    clock_.Advance(milliseconds(1));
    exporter().Step();
    EXPECT_EQ(sent_, (std::vector<std::size_t>{512, 88}));
    EXPECT_TRUE(Scraped("ksana_trace_spans_exported_total 600"));
}

TEST_F(SpanExporterTest, DropsAndCountsWhatTheQueueCannotHold) {
    answers_ = {{.status = 503}};
    exporter().Offer(SomeSpans(1'900));
    exporter().Step();  // one batch is under way and tried again
    exporter().Offer(SomeSpans(700));
    EXPECT_TRUE(Scraped(R"(ksana_trace_spans_dropped_total{reason="queue_full"} 88)"));
    EXPECT_TRUE(Scraped("ksana_trace_spans_waiting 2000"));
}

TEST_F(SpanExporterTest, TriesAgainWithGrowingPausesAndGivesUp) {
    options_.max_tries = 4;
    answers_ = {{.status = 503}, {.status = 429}, {.status = 0}, {.status = 504}};
    exporter().Offer(SomeSpans(512));
    Duration longest = seconds(1);
    for (std::size_t tries = 1; tries < 4; ++tries) {
        const SteadyPoint next = exporter().Step();
        ASSERT_EQ(sent_.size(), tries);
        const Duration pause = std::chrono::ceil<Duration>(next - clock_.SteadyNow());
        EXPECT_LE(pause, longest);
        EXPECT_GE(pause, longest / 2);
        clock_.Advance(pause - Duration(1));
        exporter().Step();
        EXPECT_EQ(sent_.size(), tries);
        clock_.Advance(Duration(1));
        longest *= 2;
    }
    exporter().Step();
    EXPECT_EQ(sent_.size(), 4U);
    EXPECT_TRUE(Scraped(R"(ksana_trace_spans_dropped_total{reason="retries"} 512)"));
    EXPECT_TRUE(Scraped("ksana_trace_requests_failed_total 4"));
}

TEST_F(SpanExporterTest, ObeysRetryAfter) {
    answers_ = {{.status = 429, .retry_after = seconds(17)}, {.status = 200}};
    exporter().Offer(SomeSpans(512));
    EXPECT_EQ(exporter().Step(), clock_.SteadyNow() + seconds(17));
    clock_.Advance(seconds(17));
    exporter().Step();
    EXPECT_TRUE(Scraped("ksana_trace_spans_exported_total 512"));
}

TEST_F(SpanExporterTest, OtherAnswersAreNotTriedAgain) {
    for (const int status : {400, 401, 404, 413, 500, 301}) {
        answers_ = {{.status = status}};
        const std::size_t before = sent_.size();
        exporter().Offer(SomeSpans(512));
        exporter().Step();
        EXPECT_EQ(sent_.size(), before + 1) << status;
    }
    EXPECT_TRUE(Scraped(R"(ksana_trace_spans_dropped_total{reason="refused"} 3072)"));
}

TEST_F(SpanExporterTest, APartialSuccessIsNotTriedAgain) {
    answers_ = {{.status = 200, .text = R"({"partialSuccess":{"rejectedSpans":"12"}})"}};
    exporter().Offer(SomeSpans(512));
    exporter().Step();
    EXPECT_EQ(sent_.size(), 1U);
    EXPECT_TRUE(Scraped("ksana_trace_spans_exported_total 500"));
    EXPECT_TRUE(Scraped(R"(ksana_trace_spans_dropped_total{reason="rejected"} 12)"));
}

TEST_F(SpanExporterTest, SpansThatNeedALookAreMadeByStep) {
    int looks = 0;
    exporter().OfferLater([&looks] {
        ++looks;
        return SomeSpans(512);
    });
    EXPECT_EQ(looks, 0);
    exporter().Step();
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(sent_, std::vector<std::size_t>{512});
}

TEST_F(SpanExporterTest, AFlushSendsTheRestWithinItsTime) {
    exporter().Offer(SomeSpans(700));
    exporter().Flush();
    EXPECT_EQ(sent_, (std::vector<std::size_t>{512, 188}));
    EXPECT_EQ(timeouts_.front(), seconds(3));
}

TEST_F(SpanExporterTest, AFlushEndsWhenTheReceiverIsSlowOrAway) {
    takes_ = seconds(2);
    exporter().Offer(SomeSpans(1'600));
    exporter().Flush();  // 2 s, 1 s left, and no time for the others
    EXPECT_EQ(timeouts_, (std::vector<Duration>{seconds(3), seconds(1)}));
    EXPECT_TRUE(Scraped(R"(ksana_trace_spans_dropped_total{reason="shutdown"} 576)"));
    takes_ = {};
    answers_ = {{.status = 0}};
    exporter().Offer(SomeSpans(1'600));
    exporter().Flush();
    EXPECT_EQ(sent_.size(), 3U);
}

TEST_F(SpanExporterTest, ItsThreadSendsAndStops) {
    options_.delay = {};
    exporter().Offer(SomeSpans(3));
    ASSERT_TRUE(exporter().Start());
    clock_.AwaitWaiters(1);
    exporter().Stop();
    EXPECT_EQ(sent_, std::vector<std::size_t>{3});
}

}  // namespace
}  // namespace ksana::telemetry

#include "ksana/codec/dispatcher/dispatcher_execution.hpp"

#include <gtest/gtest.h>

#include "ksana/model/run/decide.hpp"

namespace ksana::codec {
namespace {

using model::Attempt;
using model::EventKind;
using model::Run;
using std::chrono::seconds;

// A run and the events of its life, with the attempts that a store keeps.
class Life {
  public:
    Life() {
        run.id = *Uuid::Parse("01928374-0000-7000-8000-000000000001");
        run.job_id = "nightly";
        run.nominal_at = now_;
        run.created_at = now_;
        run.status.ready_at = now_;
        run.policy.retry = {.strategy = model::RetryStrategy::kExponential,
                            .max_retries = 2,
                            .interval = seconds(2),
                            .sequence = {}};
    }

    Life& Do(model::Event event) {
        now_ += seconds(10);
        event.exec_id = run.status.exec_id;
        if (event.kind == EventKind::kStart) {
            const auto before = model::LastAttempt(run);
            if (before) earlier_.push_back(*before);
            event.exec_id = "exec" + std::to_string(run.status.attempt);
            event.owner = "w1/01928374-0000-7000-8000-00000000000f";
            event.lease = seconds(60);
        }
        const auto done = model::Decide(run, event, now_);
        EXPECT_EQ(done.verdict, model::EventVerdict::kApplied) << done.reason;
        return *this;
    }
    Life& Do(EventKind kind) { return Do(model::Event{.kind = kind}); }
    Life& Fail(const char* error) {
        return Do({.kind = EventKind::kRetryableFailure, .error = error});
    }

    // Returns "0 FAILED, 1 PENDING", and checks that the run alone tells the same number.
    std::string Told() const {
        const auto attempts = Attempts();
        std::string text;
        const auto executions = ExecutionsOf(run, attempts);
        for (const DispatcherExecution& one : executions) {
            if (!text.empty()) text += ", ";
            text += std::to_string(one.retry_count) + " " + std::string(one.status);
        }
        const auto count = ExecutionCount(run);
        if (count) {
            EXPECT_EQ(*count, executions.size()) << text;
        }
        return text;
    }

    std::string Json(std::size_t index, DispatcherView view) const {
        const auto attempts = Attempts();
        return ExecutionToJson(run, ExecutionsOf(run, attempts).at(index), view);
    }

    std::vector<Attempt> Attempts() const {
        std::vector<Attempt> attempts = earlier_;
        if (const auto last = model::LastAttempt(run)) attempts.push_back(*last);
        return attempts;
    }

    Run run;

  private:
    TimePoint now_{seconds(1'000'000)};
    std::vector<Attempt> earlier_;
};

// D-01, D-08
// D-01, D-02: PENDING until the message broker has confirmed it, then DISPATCHED until a consumer
// begins it.
TEST(DispatcherExecution, TheBrokersWords) {
    Life life;
    life.Do(EventKind::kDue);
    const auto told = [&life](ReadyRun ready) {
        const auto attempts = life.Attempts();
        const auto executions = ExecutionsOf(life.run, attempts, ready);
        EXPECT_EQ(executions.size(), 1U);
        EXPECT_EQ(executions[0].attempt, nullptr) << "nothing has begun";
        return executions[0].status;
    };
    EXPECT_EQ(told(ReadyRun::kHandedOut), "DISPATCHED");
    EXPECT_EQ(told(ReadyRun::kToBePublished), "PENDING");
    life.Do(EventKind::kStart);
    life.run.status.owner = model::kBrokerOwner;
    EXPECT_EQ(told(ReadyRun::kToBePublished), "PENDING");
    life.run.status.detail = R"({"waits":{"reason":"broker","for":"ksana.tasks"}})";
    EXPECT_EQ(told(ReadyRun::kToBePublished), "DISPATCHED");
    life.Do({.kind = EventKind::kTake, .owner = "c1"});
    EXPECT_EQ(life.Told(), "0 RUNNING");
}

TEST(DispatcherExecution, EachRetryIsOneOfItsOwn) {
    Life life;
    EXPECT_EQ(life.Told(), "0 PENDING");
    EXPECT_EQ(life.Do(EventKind::kDue).Told(), "0 DISPATCHED");
    EXPECT_EQ(life.Do(EventKind::kStart).Told(), "0 RUNNING");
    EXPECT_EQ(life.Fail("no disk").Told(), "0 FAILED, 1 PENDING");
    EXPECT_EQ(life.Do(EventKind::kDue).Told(), "0 FAILED, 1 DISPATCHED");
    EXPECT_EQ(life.Do(EventKind::kStart).Told(), "0 FAILED, 1 RUNNING");
    EXPECT_EQ(life.Do(EventKind::kTimeout).Told(), "0 FAILED, 1 TIMEOUT, 2 PENDING");
    life.Do(EventKind::kDue).Do(EventKind::kStart);
    EXPECT_EQ(ExecutionCount(life.run), 3U);
    EXPECT_EQ(Life(life).Fail("again").Told(), "0 FAILED, 1 TIMEOUT, 2 FAILED") << "for good";
    EXPECT_EQ(Life(life).Do(EventKind::kSuccess).Told(), "0 FAILED, 1 TIMEOUT, 2 COMPLETED");
    EXPECT_EQ(Life(life).Do(EventKind::kLostOwner).Told(), "0 FAILED, 1 TIMEOUT, 2 FAILED");
    EXPECT_EQ(Life(life).Do(EventKind::kTimeout).Told(), "0 FAILED, 1 TIMEOUT, 2 TIMEOUT");
}

TEST(DispatcherExecution, GivenBackIsDispatchedAgain) {
    Life life;
    life.Do(EventKind::kDue).Do(EventKind::kStart).Do(EventKind::kShutdown);
    EXPECT_EQ(life.Told(), "0 DISPATCHED");
    EXPECT_NE(life.Json(0, DispatcherView::kListed).find(R"("worker_id":null)"), std::string::npos);
    life.Do(EventKind::kStart);
    EXPECT_EQ(life.Told(), "0 RUNNING");
    EXPECT_FALSE(ExecutionCount(life.run)) << "the run alone does not tell";
    EXPECT_EQ(life.Fail("x").Told(), "0 FAILED, 1 PENDING");
}

TEST(DispatcherExecution, OtherEnds) {
    Life life;
    EXPECT_EQ(Life(life).Do(EventKind::kCancel).Told(), "0 CANCELLED");
    EXPECT_EQ(Life(life).Do(EventKind::kSkip).Told(), "0 SKIPPED");
    EXPECT_EQ(Life(life).Do(EventKind::kMiss).Told(), "0 MISSED");
    life.Do(EventKind::kDue);
    EXPECT_EQ(Life(life).Do(EventKind::kBlock).Told(), "0 PENDING") << "waits for another run";
    life.run.policy.depends = true;
    EXPECT_EQ(life.Told(), "0 PENDING") << "the jobs that it depends on have not been asked";
    life.run.status.wait_until = life.run.created_at;
    EXPECT_EQ(life.Told(), "0 DISPATCHED") << "they let it pass";
    life.run.policy.depends = false;
    life.Do(EventKind::kStart).Fail("x");
    EXPECT_EQ(Life(life).Do(EventKind::kCancel).Told(), "0 FAILED, 1 CANCELLED");
    life.run.policy.need_manual = true;
    life.Do(EventKind::kDue).Do(EventKind::kStart).Do(EventKind::kPermanentFailure);
    EXPECT_EQ(life.Told(), "0 FAILED, 1 FAILED") << "held";
    EXPECT_EQ(Life(life).Do(EventKind::kResolve).Told(), "0 FAILED, 1 FAILED");
    life.Do(EventKind::kSendBack);
    EXPECT_EQ(life.Told(), "0 FAILED, 1 FAILED, 2 DISPATCHED");
}

TEST(DispatcherExecution, IsShownWithWhatTheDocumentNames) {
    Life life;
    life.run.payload = R"({"n":1})";
    life.Do(EventKind::kDue).Do(EventKind::kStart);
    life.Do({.kind = EventKind::kRetryableFailure,
             .error = "E: no disk",
             .detail = R"({"error":{"type":"E","message":"no disk","stack":"at a\nat b"}})",
             .log = R"("one","two")"});
    const std::string failed = life.Json(0, DispatcherView::kListed);
    EXPECT_EQ(failed, R"({"id":"01928374-0000-7000-8000-000000000001.0","task_id":"nightly",)"
                      R"("run_id":"01928374-0000-7000-8000-000000000001","status":"FAILED",)"
                      R"("retry_count":0,"worker_id":"w1","trigger":"submitted",)"
                      R"("scheduled_time":"1970-01-12T13:46:40Z","next_run_time":null,)"
                      R"("start_time":"1970-01-12T13:47:00Z","end_time":"1970-01-12T13:47:10Z",)"
                      R"("duration_ms":10000,"result":null,"error":"E: no disk",)"
                      R"("trace_id":"01928374000070008000000000000001"})");
    const std::string whole = life.Json(0, DispatcherView::kWhole);
    EXPECT_NE(whole.find(R"("params":{"n":1},"stack_trace":"at a\nat b","log":["one","two"],)"
                         R"("detail":{"error":{"type":"E")"),
              std::string::npos)
        << whole;
    const std::string next = life.Json(1, DispatcherView::kWhole);
    EXPECT_NE(next.find(R"("next_run_time":"1970-01-12T13:47:12Z","start_time":null)"),
              std::string::npos)
        << next;
    EXPECT_NE(next.find(R"("stack_trace":null,"log":[],"detail":null)"), std::string::npos) << next;
}

TEST(DispatcherExecution, HasTheResultOfSuccess) {
    Life life;
    life.Do(EventKind::kDue).Do(EventKind::kStart).Fail("x").Do(EventKind::kDue);
    life.Do(EventKind::kStart).Do({.kind = EventKind::kSuccess, .result = R"({"rows":7})"});
    EXPECT_NE(life.Json(0, DispatcherView::kListed).find(R"("result":null,"error":"x")"),
              std::string::npos);
    EXPECT_NE(life.Json(1, DispatcherView::kListed).find(R"("result":{"rows":7},"error":null)"),
              std::string::npos);
    life.run.status.result = '"' + std::string(kMaxListedJson, 'x') + '"';
    EXPECT_NE(life.Json(1, DispatcherView::kListed).find(R"("result":null,"result_omitted":true)"),
              std::string::npos);
    EXPECT_EQ(life.Json(1, DispatcherView::kWhole).find("result_omitted"), std::string::npos);
}

TEST(DispatcherExecution, IdsHaveOneSpelling) {
    const Uuid run = *Uuid::Parse("01928374-0000-7000-8000-000000000001");
    const auto key = ParseExecutionId(ExecutionId(run, 12));
    ASSERT_TRUE(key);
    EXPECT_EQ(key->run, run);
    EXPECT_EQ(key->retry_count, 12);
    for (const char* text :
         {"", ".", "x.0", "01928374-0000-7000-8000-000000000001",
          "01928374-0000-7000-8000-000000000001.", "01928374-0000-7000-8000-000000000001.01",
          "01928374-0000-7000-8000-000000000001.1x",
          "01928374-0000-7000-8000-000000000001.99999999999"}) {
        EXPECT_FALSE(ParseExecutionId(text)) << text;
    }
}

}  // namespace
}  // namespace ksana::codec

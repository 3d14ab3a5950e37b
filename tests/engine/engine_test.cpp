#include "ksana/engine/engine.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "ksana/engine/services/job_service.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Answers at once, or holds every attempt until it is cancelled.
class TestExecutor final : public Executor {
  public:
    model::ActionKind kind() const override { return model::ActionKind::kHttp; }

    void Start(std::shared_ptr<const ActiveAttempt> attempt, Done done) override {
        {
            const std::lock_guard lock(mutex_);
            ++started_;
            if (keep_) {
                kept_.emplace(attempt->run.status.exec_id, std::move(done));
                changed_.notify_all();
                return;
            }
        }
        changed_.notify_all();
        done({.kind = model::EventKind::kSuccess});
    }

    void Cancel(std::string_view exec_id) override {
        Done done;
        {
            const std::lock_guard lock(mutex_);
            if (deaf_) return;
            auto node = kept_.extract(std::string(exec_id));
            if (node.empty()) return;
            done = std::move(node.mapped());
        }
        done({.kind = model::EventKind::kCancelled});
    }

    void Keep(bool deaf) {
        const std::lock_guard lock(mutex_);
        keep_ = true;
        deaf_ = deaf;
    }

    void AwaitStarted(int count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return started_ >= count; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Done> kept_;
    int started_ = 0;
    bool keep_ = false;
    bool deaf_ = false;
};

class EngineTest : public ::testing::Test {
  protected:
    model::Job Once(Duration after) {
        model::Job job;
        job.name = "once";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.run_at = clock_.Now() + after;
        return job;
    }

    store::Page<model::Run> RunsIn(model::RunState state) {
        store::RunQuery query;
        query.filter.states = model::SetOf(state);
        return *store_->runs().List(query);
    }

    SystemClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    schedule::ZoneDatabase zones_;
    TestExecutor executor_;
    Node node_{*store_, {&executor_}, zones_, clock_, {}, nullptr};
    Engine engine_{node_,
                   *store_,
                   clock_,
                   nullptr,
                   {.drain = milliseconds(1), .stop_patience = milliseconds(20)}};
    JobService service_{*store_, node_.plans(), zones_, {}, ids_};
};

// Otherwise a probe or the watchdog would mistake a server that just started for one that hangs.
TEST_F(EngineTest, LoopsCountAsAliveFromTheirStart) {
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(engine_.Start());
        EXPECT_LT(engine_.LongestSilence(), seconds(60));
        engine_.Stop();
    }
}

TEST_F(EngineTest, AJobThatIsMadeWhileEverybodySleepsFires) {
    ASSERT_TRUE(engine_.Start());
    ASSERT_TRUE(service_.Create(Once(milliseconds(30))));
    executor_.AwaitStarted(1);
    ASSERT_TRUE(
        service_.RunNow({.id = service_.Create(Once(seconds(1000)))->id, .parameters = {}}));
    executor_.AwaitStarted(2);
    engine_.Stop();
    EXPECT_EQ(RunsIn(model::RunState::kSucceeded).items.size(), 2U) << "reported before it stopped";
}

TEST_F(EngineTest, StopGivesBackWhatRuns) {  // K-18
    executor_.Keep(false);
    ASSERT_TRUE(engine_.Start());
    ASSERT_TRUE(service_.Create(Once({})));
    executor_.AwaitStarted(1);
    engine_.Stop();
    const auto waiting = RunsIn(model::RunState::kQueued);
    ASSERT_EQ(waiting.items.size(), 1U);
    EXPECT_EQ(waiting.items[0].status.failures, 0);
    ASSERT_TRUE(engine_.Start()) << "and goes on";
    executor_.AwaitStarted(2);
    engine_.Stop();
}

TEST_F(EngineTest, StopDoesNotWaitForTheDeaf) {
    executor_.Keep(true);
    ASSERT_TRUE(engine_.Start());
    ASSERT_TRUE(service_.Create(Once({})));
    executor_.AwaitStarted(1);
    engine_.Stop();
    EXPECT_EQ(RunsIn(model::RunState::kQueued).items.size(), 1U);
}

TEST_F(EngineTest, ANodeTakesBackWhatItHeldBeforeACrash) {
    ASSERT_TRUE(
        service_.RunNow({.id = service_.Create(Once(seconds(1000)))->id, .parameters = {}}));
    ASSERT_EQ(
        store_->runs()
            .Claim({.filter = {.kind = model::ActionKind::kHttp}, .owner = "node/0", .limit = 1})
            ->runs.size(),
        1U);
    Node other(*store_, {&executor_}, zones_, clock_, {.name = "other", .only_one = true}, nullptr);
    ASSERT_TRUE(other.Prepare());
    EXPECT_EQ(RunsIn(model::RunState::kRunning).items.size(), 1U) << "not its own";
    Node again(*store_, {&executor_}, zones_, clock_, {.only_one = true}, nullptr);
    ASSERT_TRUE(again.Prepare());
    EXPECT_TRUE(RunsIn(model::RunState::kRunning).items.empty());
}

}  // namespace
}  // namespace ksana::engine

#include "ksana/api/edge/timed_check.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <semaphore>

#include "api/call_router.hpp"
#include "ksana/api/edge/health_routes.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/store/fault_plan.hpp"
#include "ksana/store/faulty_store.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPatience = milliseconds(900);

class TimelyCheckTest : public ::testing::Test {
  protected:
    ~TimelyCheckTest() override { go_on_.release(64); }

    std::future<Result<void>> Ask() {
        const auto answer = std::make_shared<std::promise<Result<void>>>();
        auto future = answer->get_future();
        check_.Ask([answer](Result<void> result) { answer->set_value(std::move(result)); });
        return future;
    }

    static bool IsThere(const std::future<Result<void>>& future) {
        return future.wait_for(seconds(0)) == std::future_status::ready;
    }

    FakeClock clock_;
    std::counting_semaphore<> began_{0};
    std::counting_semaphore<> go_on_{0};
    std::atomic<int> carried_out_ = 0;
    Result<void> outcome_;
    TimedCheck check_{"store",
                      [this] {
                          began_.release();
                          go_on_.acquire();
                          ++carried_out_;
                          return outcome_;
                      },
                      clock_, kPatience};
};

TEST_F(TimelyCheckTest, TheAnswerIsThatOfTheCheck) {
    ASSERT_TRUE(check_.Start());
    go_on_.release();
    EXPECT_TRUE(Ask().get());
    outcome_ = Error(Code::kUnavailable, "no route");
    go_on_.release();
    EXPECT_EQ(Ask().get().error().message, "no route");
}

TEST_F(TimelyCheckTest, WhoAsksMeanwhileGetsTheSameAnswer) {
    ASSERT_TRUE(check_.Start());
    auto first = Ask();
    began_.acquire();
    auto second = Ask();
    EXPECT_FALSE(IsThere(first));
    go_on_.release();
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
    EXPECT_EQ(carried_out_, 1);
}

TEST_F(TimelyCheckTest, NobodyWaitsLongerForACheckThatHangs) {
    ASSERT_TRUE(check_.Start());
    auto first = Ask();
    began_.acquire();
    clock_.AwaitWaiters(1);
    clock_.Advance(kPatience);
    EXPECT_EQ(first.get().error().message, "no answer for 900 ms");
    clock_.Advance(seconds(3));
    auto second = Ask();
    ASSERT_TRUE(IsThere(second)) << "it is known to hang";
    EXPECT_EQ(second.get().error().message, "no answer for 3900 ms");
    go_on_.release(2);
    while (carried_out_ == 0) std::this_thread::yield();
    clock_.AwaitWaiters(2);
    EXPECT_TRUE(Ask().get()) << "and is asked again when it has answered";
    EXPECT_EQ(carried_out_, 2);
}

TEST_F(TimelyCheckTest, WithoutItsThreadsItSaysSo) {
    EXPECT_EQ(Ask().get().error().code, Code::kUnavailable);
    ASSERT_TRUE(check_.Start());
    auto waits = Ask();
    began_.acquire();
    go_on_.release();
    check_.Stop();
    EXPECT_TRUE(IsThere(waits));
    EXPECT_EQ(Ask().get().error().code, Code::kUnavailable);
    ASSERT_TRUE(check_.Start());
    go_on_.release();
    EXPECT_TRUE(Ask().get());
}

// End to end: a store whose read blocks, and the route.
TEST_F(TimelyCheckTest, ReadinessIsAnsweredWhileTheStoreHangs) {
    SeededRandom random(1);
    UuidGenerator ids(clock_, random);
    const auto inner = store_kit::MakeStore(store_memory::OpenMemory(clock_), ids);
    store::FaultPlan plan;
    const auto faulty = store::MakeFaultyStore(*inner, plan, [this](Duration) {
        began_.release();
        go_on_.acquire();
    });
    plan.Next("store.Now", {.kind = store::FaultKind::kDelay, .delay = seconds(10)});
    TimedCheck store(
        "store",
        [&]() -> Result<void> {
            KSANA_TRY([[maybe_unused]] const TimePoint now, faulty->Now());
            return {};
        },
        clock_, kPatience);
    ASSERT_TRUE(store.Start());
    telemetry::Registry metrics;
    http_server::Router router;
    AddHealthRoutes(router, {.live = {},
                             .ready = {{"serving", [] { return Result<void>(); }}},
                             .store = &store,
                             .metrics = metrics});
    const auto get = [&](const std::string& target) {
        auto request = MakeRequest(HttpMethod::kGet, target);
        const auto match = router.Find(request.method, request.segments);
        EXPECT_EQ(match.route->where(), http_server::Where::kInline);
        const auto answer = std::make_shared<std::promise<http_server::Response>>();
        std::get<http_server::AsyncHandler>(match.route->handler())(
            request, http_server::Reply([answer](auto got) { answer->set_value(std::move(got)); },
                                        "/readyz", "r1"));
        return answer->get_future();
    };
    auto first = get("/readyz?verbose");
    began_.acquire();
    clock_.AwaitWaiters(1);
    clock_.Advance(kPatience);
    const auto late = first.get();
    EXPECT_EQ(late.status, 503);
    EXPECT_EQ(late.body, "[-] store failed: no answer for 900 ms\n[+] serving ok\nnot ok\n");
    EXPECT_EQ(get("/readyz").get().body, "[-] store failed\nnot ok\n");
    go_on_.release();
    clock_.AwaitWaiters(2);
    const auto well = get("/readyz").get();
    EXPECT_EQ(well.status, 200);
    EXPECT_EQ(well.body, "ok\n");
}

}  // namespace
}  // namespace ksana::api

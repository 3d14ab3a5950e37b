// D-17, N-20: ten thousand jobs in one chain.
#include <fmt/core.h>

#include "engine/service_fixture.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;

constexpr int kJobs = 10'000;

class ChainTest : public ServiceFixture {
  protected:
    SystemClock real_;
    SteadyPoint::duration took_{};

    static std::string Id(int n) { return fmt::format("job-{:05}", n); }
    static model::Job Link(int n) {
        model::Job job;
        job.id = job.name = Id(n);
        job.action = model::QueueAction{.type = "t"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::hours(1000);
        if (n == 0) return job;
        job.schedule = {.kind = schedule::ScheduleKind::kAfter};
        job.schedule.jobs = {Id(n - 1)};
        return job;
    }
    // Runs all that can start, until there is nothing more, and returns how many there were.
    int RunAll() {
        int runs = 0;
        std::vector<model::RunEvent> events;
        for (;;) {
            const auto made =
                store_->runs().Exchange({.events = std::move(events),
                                         .claim = store::ClaimParams{.owner = "w", .limit = 100}});
            EXPECT_TRUE(made) << made.error().Describe();
            if (!made || made->claimed.runs.empty()) return runs;
            events.clear();
            clock_.Advance(milliseconds(1));
            for (const model::Run& run : made->claimed.runs) {
                ++runs;
                events.push_back(
                    {run.id, {.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id}});
            }
        }
    }
};

// The time of a step must not grow with the chain: the second half takes about as long as the
// first.
TEST_F(ChainTest, AChainOfTenThousandJobs) {
    const auto half = [this](int from) {
        const auto begin = real_.SteadyNow();
        for (int n = from; n < from + kJobs / 2; ++n) {
            const auto made = service_.Create(Link(n));
            ASSERT_TRUE(made) << made.error().Describe();
        }
        took_ = real_.SteadyNow() - begin;
    };
    half(0);
    const auto first = took_;
    half(kJobs / 2);
    EXPECT_LT(took_, 4 * first + milliseconds(500));

    ASSERT_TRUE(service_.RunNow({.id = Id(0)}));
    EXPECT_EQ(RunAll(), kJobs);
    EXPECT_EQ(Runs(Id(kJobs - 1)), 1U);

    // The last job as a need of the first one: the whole chain is the cycle.
    const auto cycle = service_.Change(Id(0), {}, [](model::Job& job) -> Result<void> {
        job.depends_on = {{Id(kJobs - 1), model::OnDependencyFailure::kSkip}};
        return {};
    });
    ASSERT_FALSE(cycle);
    EXPECT_EQ(cycle.error().problems.at(0).path, "/depends_on/0/job");
    EXPECT_FALSE(service_.Delete(Id(5), {}));
    EXPECT_TRUE(service_.Delete(Id(kJobs - 1), {}));
}

}  // namespace
}  // namespace ksana::engine

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "ksana/base/time/time_text.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/schedule/schedule.hpp"

namespace {
std::atomic<long> allocations = 0;
}

// Counts all allocations of this program.
void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ksana::schedule {
namespace {

TEST(NoAllocation, NextPreviousAndCountNeedNoMemory) {
    ZoneDatabase zones;
    const TimePoint from = *ParseTime("2025-11-01T00:00:00Z");
    for (const char* zone : {"UTC", "America/New_York"}) {
        for (const char* text : {"*/5 * * * *", "0 3 * * 1", "0 0 29 2 *", "30 1 L,15W * 5#2"}) {
            ScheduleSpec spec;
            spec.kind = ScheduleKind::kCron;
            spec.cron = text;
            spec.zone = zone;
            const Schedule schedule = *Schedule::Compile(spec, {zones, {}, {}});
            const long before = allocations;
            const auto next = schedule.Next(from);
            const auto previous = schedule.Previous(from);
            const auto count = schedule.Count(from, from + std::chrono::hours(50'000));
            const TimePoint start = schedule.WithJitter("job", *next);
            EXPECT_EQ(allocations - before, 0) << text << " in " << zone;
            EXPECT_TRUE(next && previous && count > 0 && start >= *next);
        }
    }
}

// Planning a one-second job after ten years needs a handful of small vectors, whatever the policy.
TEST(NoAllocation, PlanningAfterTenYearsNeedsConstantMemory) {
    ZoneDatabase zones;
    const TimePoint start = *ParseTime("2026-01-01T00:00:00Z");
    for (const char* zone : {"UTC", "America/New_York"}) {
        ScheduleSpec spec;
        spec.kind = ScheduleKind::kCron;
        spec.cron = "* * * * * *";
        spec.zone = zone;
        const Schedule schedule = *Schedule::Compile(spec, {zones, {}, {}});
        for (const auto policy : {model::MisfirePolicy::kSkip, model::MisfirePolicy::kRunLatest,
                                  model::MisfirePolicy::kRunAll}) {
            model::PlanInput input{.planned_until = start,
                                   .now = start + std::chrono::hours(87'660)};
            input.misfire = {.policy = policy, .max_runs = 10, .grace = Duration(0)};
            const long before = allocations;
            const model::PlanResult result = model::Plan(schedule, input);
            EXPECT_LT(allocations - before, 12) << model::NameOf(policy);
            EXPECT_EQ(result.ranges.size(), 1U);
        }
    }
}

}  // namespace
}  // namespace ksana::schedule

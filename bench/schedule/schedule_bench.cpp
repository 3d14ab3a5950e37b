// Prints nanoseconds per call of the schedule and planning functions, as JSON lines. The
// expressions, instants and checksums are those of workload W6 of the peer benchmark, so that the
// rivals' programs compute the same results; bench/schedule/run.py compares them.

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/schedule/cron/cron_parser.hpp"
#include "ksana/schedule/schedule.hpp"

namespace {

using namespace ksana;
using schedule::Schedule;
using schedule::ScheduleKind;
using schedule::ScheduleSpec;

constexpr std::size_t kInstants = 1'000'000;
constexpr std::size_t kChecked = 20'000;
constexpr int kRounds = 5;

// Returns instants within 30 years from 2026-01-01, by xorshift64 with the peers' seed.
std::vector<TimePoint> MakeInstants() {
    std::vector<TimePoint> instants;
    instants.reserve(kInstants);
    std::uint64_t x = 88'172'645'463'325'252U;
    for (std::size_t i = 0; i < kInstants; ++i) {
        x ^= x << 13U;
        x ^= x >> 7U;
        x ^= x << 17U;
        const auto second = 1'767'225'600 + static_cast<std::int64_t>(x % (30ULL * 365 * 86'400));
        instants.emplace_back(std::chrono::seconds(second));
    }
    return instants;
}

// Returns the best of several rounds: the cost without interruptions.
template <class F>
double NanosecondsPerCall(std::size_t calls, const F& round) {
    const SystemClock clock;
    double best = 0;
    for (int i = 0; i < kRounds; ++i) {
        const SteadyPoint begin = clock.SteadyNow();
        round();
        const double ns = static_cast<double>((clock.SteadyNow() - begin).count());
        const double per_call = ns / static_cast<double>(calls);
        best = i == 0 ? per_call : std::min(best, per_call);
    }
    return best;
}

void Emit(const std::string& workload, const std::string& expression, const std::string& zone,
          double value, std::int64_t check) {
    fmt::print(
        "{{\"peer\":\"ksana\",\"workload\":\"{}\",\"metric\":\"ns_per_call\",\"value\":{:.1f},"
        "\"unit\":\"ns\",\"expr\":\"{}\",\"zone\":\"{}\",\"check\":{}}}\n",
        workload, value, expression, zone, check);
}

Schedule Cron(schedule::ZoneDatabase& zones, const std::string& text, const std::string& zone) {
    ScheduleSpec spec;
    spec.kind = ScheduleKind::kCron;
    spec.cron = text;
    spec.zone = zone;
    return *Schedule::Compile(spec, {zones, {}, {}});
}

void BenchNext(schedule::ZoneDatabase& zones, const std::vector<TimePoint>& instants,
               const std::string& text, const std::string& zone) {
    const Schedule cron = Cron(zones, text, zone);
    std::int64_t check = 0;
    for (std::size_t i = 0; i < kChecked; ++i) {
        const auto next = cron.Next(instants[i])->time_since_epoch() / std::chrono::seconds(1);
        check = (check + next) % 1'000'000'007;
    }
    std::int64_t sum = 0;
    const double ns = NanosecondsPerCall(instants.size(), [&] {
        for (const TimePoint t : instants) sum += cron.Next(t)->time_since_epoch().count();
    });
    // uses `sum`, so that the loop is not removed
    Emit("cron-next", text, zone, ns, sum == 1 ? 0 : check);
}

void BenchParse(const std::string& text) {
    constexpr std::size_t kCalls = 200'000;
    std::uint64_t sum = 0;
    const double ns = NanosecondsPerCall(kCalls, [&] {
        for (std::size_t i = 0; i < kCalls; ++i) {
            sum += schedule::ParseCronText(text, {}).spec.minutes;
        }
    });
    Emit("cron-parse", text, "", ns, sum == 1 ? 1 : 0);
}

// Plans a job that fires every second after ten years of downtime.
void BenchPlan(schedule::ZoneDatabase& zones, const std::string& text, const std::string& zone) {
    constexpr std::size_t kCalls = 2'000;
    const Schedule cron = Cron(zones, text, zone);
    const TimePoint start = *ParseTime("2026-01-01T00:00:00Z");
    for (const auto policy : {model::MisfirePolicy::kSkip, model::MisfirePolicy::kRunLatest,
                              model::MisfirePolicy::kRunAll}) {
        model::PlanInput input{.planned_until = start, .now = start + std::chrono::hours(87'660)};
        input.misfire = {.policy = policy, .max_runs = 10, .grace = Duration(0)};
        std::size_t fires = 0;
        const double ns = NanosecondsPerCall(kCalls, [&] {
            for (std::size_t i = 0; i < kCalls; ++i) fires += Plan(cron, input).fires.size();
        });
        Emit(fmt::format("plan-ten-years-{}", model::NameOf(policy)), text, zone, ns,
             fires == 1 ? 1 : 0);
    }
}

}  // namespace

int main() {
    schedule::ZoneDatabase zones;
    const std::vector<TimePoint> instants = MakeInstants();
    for (const char* zone : {"UTC", "America/New_York", "Asia/Shanghai"}) {
        for (const char* text : {"*/5 * * * *", "0 3 * * 1", "0 0 29 2 *", "0 9-17 * * MON-FRI",
                                 "0 0 L * *", "30 2 * * *", "*/15 * * * * *"}) {
            BenchNext(zones, instants, text, zone);
        }
    }
    BenchParse("*/5 * * * *");
    BenchParse("0 0 9-17/2 1,15,L-3 JAN-JUN MON#1,5L");
    BenchPlan(zones, "* * * * * *", "UTC");
    BenchPlan(zones, "* * * * * *", "America/New_York");
    return 0;
}

// Simulates a month of many jobs on a virtual clock and prints the time it takes, as a JSON line.
//   simulate_bench [JOBS [SLOTS [DAYS]]]       10000 jobs, unlimited slots, 30 days

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <span>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/insight/simulate/simulate.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace {

using namespace ksana;
using insight::SimulateParams;

std::int64_t Number(std::span<char*> words, std::size_t place, std::int64_t otherwise) {
    if (place >= words.size()) return otherwise;
    const std::string_view text(words[place]);
    std::int64_t value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// A tenth of the jobs fires every minute, a fifth every five minutes, the rest hourly or daily at
// different times, in three zones.
model::Job JobOf(std::int64_t i) {
    static const std::array<const char*, 3> kZones = {"UTC", "Europe/Berlin", "America/New_York"};
    model::Job job;
    job.id = fmt::format("job-{:06}", i);
    job.action = model::HttpAction{.url = "http://127.0.0.1/"};
    job.schedule.kind = schedule::ScheduleKind::kCron;
    job.schedule.zone = kZones.at(static_cast<std::size_t>(i % 3));
    job.overlap = static_cast<model::OverlapPolicy>(i % 5);
    const std::int64_t share = i % 10;
    if (share == 0) {
        job.schedule.cron = "* * * * *";
    } else if (share <= 2) {
        job.schedule.cron = "*/5 * * * *";
    } else if (share <= 6) {
        job.schedule.cron = fmt::format("{} * * * *", i % 60);
    } else {
        job.schedule.cron = fmt::format("{} {} * * *", i % 60, i / 60 % 24);
    }
    return job;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span words(argv, static_cast<std::size_t>(argc));
    const std::int64_t jobs = Number(words, 1, 10'000);
    const std::int64_t slots = Number(words, 2, 0);
    SystemClock clock;
    SeededRandom random(1);
    UuidGenerator ids(clock, random);
    const auto store = store_kit::MakeStore(store_memory::OpenMemory(clock), ids);
    schedule::ZoneDatabase zones;
    engine::ScheduleCache book(zones, {});
    SimulateParams params;
    params.from = ParseTime("2026-03-01T00:00:00Z").value();
    params.to = params.from + std::chrono::days(Number(words, 3, 30));
    if (slots > 0) params.slots = slots;
    for (std::int64_t i = 0; i < jobs; ++i) {
        params.changes.push_back(JobOf(i));
        params.durations[params.changes.back().id] =
            i % 20 == 0 ? std::chrono::seconds(90) : std::chrono::milliseconds(200 + i % 5'000);
    }
    const SteadyPoint begin = clock.SteadyNow();
    const auto simulation = insight::Simulate(
        {.store = *store, .schedules = book, .zones = zones, .find_calendar = {}, .find_rules = {}},
        params);
    const double seconds = std::chrono::duration<double>(clock.SteadyNow() - begin).count();
    if (!simulation) {
        fmt::print(stderr, "{}\n", simulation.error().Describe());
        return 1;
    }
    fmt::print(R"({{"jobs":{},"slots":{},"fires":{},"runs":{},"skipped":{},"max_running":{},)"
               R"("seconds":{:.3f},"ns_per_fire":{:.1f}}})"
               "\n",
               jobs, slots, simulation->totals.fires, simulation->totals.runs,
               simulation->totals.skipped, simulation->load.max_running, seconds,
               seconds * 1e9 / static_cast<double>(simulation->totals.fires));
    return 0;
}

// Measures the memory of a million jobs: ksana_memory_bench [jobs]
#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace {

using namespace ksana;

// Returns the resident memory in bytes.
std::size_t Resident() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

model::Job MakeJob(UuidGenerator& ids, int number) {
    model::Job job;
    job.id = ids.Next().ToString();
    job.name = fmt::format("job number {}", number);
    job.action = model::HttpAction{.url = fmt::format("https://example.com/hooks/{}", number)};
    job.schedule.kind = schedule::ScheduleKind::kCron;
    job.schedule.cron = fmt::format("{} {} * * *", number % 60, number % 24);
    job.state.planned_until = TimePoint(Duration(number));
    job.state.next_run_at = TimePoint(Duration(number));
    return job;
}

}  // namespace

int main(int count, char** words) {
    const int jobs = count > 1 ? std::stoi(words[1]) : 1'000'000;
    SystemClock clock;
    SystemRandom random;
    UuidGenerator ids(clock, random);
    const std::size_t before = Resident();
    auto store = store_kit::MakeStore(store_memory::OpenMemory(clock), ids);
    constexpr int kBatch = 1'000;
    for (int done = 0; done < jobs; done += kBatch) {
        store::WriteJobsParams params;
        for (int i = 0; i < kBatch; ++i) params.writes.push_back({.job = MakeJob(ids, done + i)});
        if (!store->jobs().Write(std::move(params))) return 1;
    }
    const double used = static_cast<double>(Resident() - before);
    fmt::print("{{\"jobs\": {}, \"bytes\": {:.0f}, \"bytes_per_job\": {:.0f}}}\n", jobs, used,
               used / jobs);
    return 0;
}

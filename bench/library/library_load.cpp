// The library in a program whose jobs do nothing, without a store and without locks. Prints one
// JSON line.
//   ksana_library_load armed rate|cron N     memory and threads of N jobs that wait
//   ksana_library_load latency RATE SECONDS [AT_ONCE [THREADS]]
//                                            RATE jobs every second, spread evenly, AT_ONCE of them
//                                            due at the same instant: from due to handler
//   ksana_library_load bare RATE SECONDS     the same of one thread that only sleeps: the least
//                                            that the machine allows
//   ksana_library_load fires plain|coroutine SECONDS [THREADS [JOBS [PERIOD_US]]]
//                                            as many runs as possible of jobs that are always due
//   ksana_library_load trigger SECONDS [THREADS [JOBS]]
//                                            the same by Trigger, from one thread
#include <fmt/core.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/ksana.hpp"

namespace ksana::bench {
namespace {

using std::chrono::microseconds;

constexpr Duration kPeriod = std::chrono::seconds(1);
constexpr std::int64_t kMicrosPerSecond = 1'000'000;

void Must(const Result<void>& result) {
    KSANA_CHECK(result.has_value(), result.error().Describe());
}

std::int64_t Nanos(SteadyPoint point) { return point.time_since_epoch().count(); }

void SleepFor(Duration time) {
    SystemClock clock;
    Wakeup never;
    clock.Wait(never, clock.SteadyNow() + time, {});
}

// A number of /proc/self/status.
std::int64_t StatusValue(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
        std::int64_t value = 0;
        if (word == name + ":" && file >> value) return value;
    }
    KSANA_CHECK(false, name);
    return 0;
}

std::int64_t MemoryBytes() { return StatusValue("VmRSS") * 1024; }

JobSpec SpecOf(std::int64_t number, Duration rate, Duration initial_delay = {}) {
    return {.id = fmt::format("job-{}", number),
            .fixed_rate = rate,
            .initial_delay = initial_delay,
            .mode = ExecutionMode::kAllNodes};
}

// What the jobs are: as many functions as a program would have.
struct NoOp {
    std::int64_t number;
    void operator()(JobContext& /*context*/) const {}
};

// Memory of jobs that wait -------------------------------------------------------------------

JobSpec ArmedSpec(bool cron, std::int64_t number, std::int64_t count) {
    if (!cron) {
        const Duration hour = std::chrono::hours(1);
        return SpecOf(number, hour, hour + hour * number / count);
    }
    JobSpec spec = SpecOf(number, {});
    spec.cron = "0 3 1 1 *";
    return spec;
}

struct Declaration {
    JobSpec spec;
    std::unique_ptr<PlainJob> job;
};

void Armed(bool cron, std::int64_t count) {
    std::vector<Declaration> declarations;
    declarations.reserve(static_cast<std::size_t>(count));
    const std::int64_t empty = MemoryBytes();
    for (std::int64_t i = 0; i < count; ++i) {
        declarations.push_back({.spec = ArmedSpec(cron, i, count),
                                .job = std::make_unique<detail::PlainFunction<NoOp>>(NoOp{i})});
    }
    const std::int64_t declared = MemoryBytes();
    Context context;
    Scheduler scheduler(context, {});
    Must(scheduler.Start());
    SleepFor(std::chrono::milliseconds(50));  // its threads have their stacks
    const std::int64_t threads_before = StatusValue("Threads");
    const std::int64_t before = MemoryBytes();
    const SystemClock clock;
    const SteadyPoint begin = clock.SteadyNow();
    for (std::int64_t i = 0; i < count; ++i) {
        Must(scheduler.Add(ArmedSpec(cron, i, count), NoOp{i}));
    }
    const std::int64_t took = Nanos(clock.SteadyNow()) - Nanos(begin);
    const auto each = [&](std::int64_t value) {
        return static_cast<double>(value) / static_cast<double>(count);
    };
    const std::int64_t whole = MemoryBytes() - before;
    fmt::print(
        "{{\"count\": {}, \"bytes\": {:.1f}, \"declaration_bytes\": {:.1f}, "
        "\"beyond_bytes\": {:.1f}, \"threads_before\": {}, \"threads\": {}, \"add_ns\": {:.0f}}}\n",
        count, each(whole), each(declared - empty), each(whole - (declared - empty)),
        threads_before, StatusValue("Threads"), each(took));
}

// From due to handler ------------------------------------------------------------------------

// The system's clock, of which one thread can fix the wall-clock time. While Add arms a job at a
// fixed time, its due times are known to the microsecond.
class FixableClock final : public Clock {
  public:
    TimePoint Now() const override { return fixed_ == TimePoint() ? system_.Now() : fixed_; }
    SteadyPoint SteadyNow() const override { return system_.SteadyNow(); }
    WaitOutcome Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) override {
        return system_.Wait(wakeup, deadline, stop);
    }

    // For the calling thread; the epoch: no longer.
    static void Fix(TimePoint time) { fixed_ = time; }

  private:
    static thread_local TimePoint fixed_;
    SystemClock system_;
};
thread_local TimePoint FixableClock::fixed_{};

void PrintLateness(std::vector<double> late_us, std::size_t expected, std::int64_t skipped) {
    KSANA_CHECK(!late_us.empty(), "nothing ran");
    std::sort(late_us.begin(), late_us.end());
    const auto at = [&](std::size_t of_thousand) {
        return late_us[(late_us.size() - 1) * of_thousand / 1000];
    };
    fmt::print(
        "{{\"p50_us\": {:.1f}, \"p90_us\": {:.1f}, \"p99_us\": {:.1f}, \"p999_us\": {:.1f}, "
        "\"max_us\": {:.1f}, \"min_us\": {:.1f}, \"count\": {}, \"expected\": {}, \"skipped\": "
        "{}}}\n",
        at(500), at(900), at(990), at(999), at(1000), at(0), late_us.size(), expected, skipped);
}

// The lateness of each run inside the measured time. Any thread may add.
class Lateness {
  public:
    Lateness(TimePoint begin, TimePoint end, std::size_t most)
        : begin_(begin), end_(end), late_(most) {}

    // `first`: a due time of the job; the others are whole periods away. The fire time of the
    // context has whole milliseconds only, so it tells which of them.
    void Note(const JobContext& context, TimePoint first) {
        const TimePoint now = clock_.Now();
        const TimePoint fire{std::chrono::milliseconds(context.fire_time())};
        const TimePoint due = first + (fire - first + kPeriod / 2) / kPeriod * kPeriod;
        if (due < begin_ || due >= end_) return;
        const std::size_t place = count_++;
        if (place < late_.size()) late_[place] = static_cast<double>((now - due).count());
    }
    std::vector<double> Take() {
        late_.resize(std::min(count_.load(), late_.size()));
        return std::move(late_);
    }

  private:
    const SystemClock clock_;
    const TimePoint begin_;
    const TimePoint end_;
    std::vector<double> late_;
    std::atomic<std::size_t> count_{0};
};

void Latency(std::int64_t rate, std::int64_t seconds, std::int64_t at_once, int threads) {
    FixableClock clock;
    Context context;
    Scheduler scheduler(context, {.threads = threads, .clock = &clock});
    Must(scheduler.Start());
    // Time to add the jobs, and a second in which they warm up.
    const TimePoint start =
        std::chrono::floor<std::chrono::seconds>(clock.Now()) + std::chrono::seconds(3);
    const TimePoint begin = start + kPeriod;
    const TimePoint end = begin + seconds * kPeriod;
    const auto expected = static_cast<std::size_t>(rate * seconds);
    Lateness lateness(begin, end, 2 * expected);
    for (std::int64_t i = 0; i < rate; ++i) {
        const TimePoint first =
            start + microseconds(i / at_once * at_once * kMicrosPerSecond / rate);
        const TimePoint now = clock.Now();
        KSANA_CHECK(now < start, "adding the jobs took too long");
        const auto run = [&lateness, first](JobContext& of) { lateness.Note(of, first); };
        FixableClock::Fix(now);
        Must(scheduler.Add(SpecOf(i, kPeriod, first - now), run));
        FixableClock::Fix({});
    }
    SleepFor(end - clock.Now() + std::chrono::milliseconds(200));
    std::int64_t skipped = 0;
    for (const JobStatus& job : scheduler.Snapshot()) skipped += job.skip_count;
    scheduler.Shutdown(std::chrono::seconds(5));
    PrintLateness(lateness.Take(), expected, skipped);
}

void Bare(std::int64_t rate, std::int64_t seconds) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    const SystemClock clock;
    std::vector<double> late;
    const std::int64_t start = Nanos(clock.SteadyNow()) + kMicrosPerSecond;
    for (std::int64_t i = 0; i < rate * seconds; ++i) {
        const std::int64_t due = start + i * 1'000'000'000 / rate;
        const timespec until{.tv_sec = due / 1'000'000'000, .tv_nsec = due % 1'000'000'000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
        late.push_back(static_cast<double>(Nanos(clock.SteadyNow()) - due) / 1000);
    }
    PrintLateness(std::move(late), static_cast<std::size_t>(rate * seconds), 0);
}

// Runs a second ------------------------------------------------------------------------------

struct alignas(64) Place {
    std::atomic<std::int64_t> runs{0};
};

// Counts runs, each thread at a place of its own, so that they do not slow each other down. A
// snapshot of 200,000 jobs takes too long to be the count.
class RunCounter {
  public:
    static void Add() {
        thread_local Place& mine = places_[threads_++ % kPlaces];
        mine.runs.store(mine.runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    static std::int64_t Total() {
        std::int64_t total = 0;
        for (const Place& place : places_) total += place.runs.load(std::memory_order_relaxed);
        return total;
    }

  private:
    static constexpr std::size_t kPlaces = 256;  // more than there are threads
    static inline Place places_[kPlaces];
    static inline std::atomic<std::size_t> threads_{0};
};

// The CPU time of the process, all threads together.
double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Runs and CPU time from its creation on.
class Stopwatch {
  public:
    double Seconds() const {
        return std::chrono::duration<double>(clock_.SteadyNow() - begin_).count();
    }
    void Stop() {
        seconds_ = Seconds();
        runs_ = static_cast<double>(RunCounter::Total() - runs_before_);
        cpu_ = CpuSeconds() - cpu_before_;
    }
    // After the shutdown, when the scheduler must have counted the same runs.
    void Print(const Scheduler& scheduler) const {
        std::int64_t runs = 0;
        std::int64_t skips = 0;
        for (const JobStatus& job : scheduler.Snapshot()) {
            runs += job.run_count;
            skips += job.skip_count;
            KSANA_CHECK(job.fail_count == 0, job.last_error);
        }
        KSANA_CHECK(runs == RunCounter::Total(), fmt::format("{} runs by the snapshot", runs));
        fmt::print(
            "{{\"per_second\": {:.0f}, \"cpu_ns\": {:.0f}, \"runs\": {:.0f}, "
            "\"seconds\": {:.2f}, \"all_runs\": {}, \"all_skips\": {}}}\n",
            runs_ / seconds_, cpu_ / runs_ * 1e9, runs_, seconds_, runs, skips);
    }

  private:
    const SystemClock clock_;
    const SteadyPoint begin_ = clock_.SteadyNow();
    const std::int64_t runs_before_ = RunCounter::Total();
    const double cpu_before_ = CpuSeconds();
    double seconds_ = 0;
    double runs_ = 0;
    double cpu_ = 0;
};

struct FireOptions {
    bool coroutine = false;
    Duration time{};
    int threads = 0;
    std::int64_t jobs = 10'000;
    Duration period = microseconds(1'000);
};

void AddNoOps(Scheduler& scheduler, const FireOptions& options) {
    for (std::int64_t i = 0; i < options.jobs; ++i) {
        JobSpec spec = SpecOf(i, options.period);
        if (options.coroutine) {
            Must(scheduler.Add(std::move(spec), [](JobContext& /*of*/) -> Task<> {
                RunCounter::Add();
                co_return;
            }));
        } else {
            Must(scheduler.Add(std::move(spec), [](JobContext& /*of*/) { RunCounter::Add(); }));
        }
    }
}

// The jobs are added before the start, so that nothing runs meanwhile.
void Fires(const FireOptions& options) {
    Context context;
    Scheduler scheduler(context, {.threads = options.threads});
    AddNoOps(scheduler, options);
    Must(scheduler.Start());
    SleepFor(options.time / 4);  // warm
    Stopwatch watch;
    SleepFor(options.time);
    watch.Stop();
    scheduler.Shutdown(std::chrono::seconds(5));
    watch.Print(scheduler);
}

void Trigger(FireOptions options) {
    options.period = std::chrono::hours(1000);
    Context context;
    Scheduler scheduler(context, {.enabled = false, .threads = options.threads});
    AddNoOps(scheduler, options);
    Must(scheduler.Start());
    std::vector<std::string> ids;
    for (const JobStatus& job : scheduler.Snapshot()) ids.push_back(job.id);
    const double seconds = std::chrono::duration<double>(options.time).count();
    Stopwatch watch;
    for (std::size_t n = 0; n % 64 != 0 || watch.Seconds() < seconds; ++n) {
        Must(scheduler.Trigger(ids[n % ids.size()]));
    }
    watch.Stop();
    scheduler.Shutdown(std::chrono::seconds(5));
    watch.Print(scheduler);
}

int Usage() {
    fmt::print(stderr,
               "usage: ksana_library_load armed rate|cron N | latency RATE SECONDS [AT_ONCE "
               "[THREADS]] | "
               "bare RATE SECONDS | fires plain|coroutine SECONDS [THREADS [JOBS [PERIOD_US]]] | "
               "trigger SECONDS [THREADS [JOBS]]\n");
    return 2;
}

int Main(const std::vector<std::string>& words) {
    const auto word = [&](std::size_t place) { return words.size() > place ? words[place] : ""; };
    const auto number = [&](std::size_t place, std::int64_t otherwise = 0) {
        return words.size() > place ? std::atoll(words[place].c_str()) : otherwise;
    };
    Must(ConfigureLog({.level = LogLevel::kWarn}));
    const std::string what = word(1);
    if (what == "armed" && number(3) > 0) {
        Armed(word(2) == "cron", number(3));
    } else if (what == "latency" && number(2) > 0 && number(3) > 0 && number(4, 1) > 0) {
        Latency(number(2), number(3), number(4, 1), static_cast<int>(number(5)));
    } else if (what == "bare" && number(2) > 0 && number(3) > 0) {
        Bare(number(2), number(3));
    } else if (what == "fires" && number(3) > 0) {
        Fires({.coroutine = word(2) == "coroutine",
               .time = std::chrono::seconds(number(3)),
               .threads = static_cast<int>(number(4)),
               .jobs = number(5, 10'000),
               .period = microseconds(number(6, 1'000))});
    } else if (what == "trigger" && number(2) > 0) {
        Trigger({.time = std::chrono::seconds(number(2)),
                 .threads = static_cast<int>(number(3)),
                 .jobs = number(4, 10'000)});
    } else {
        return Usage();
    }
    return 0;
}

}  // namespace
}  // namespace ksana::bench

int main(int argc, char** argv) { return ksana::bench::Main({argv, argv + argc}); }

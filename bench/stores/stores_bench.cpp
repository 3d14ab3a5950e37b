// Measures operations per second of a store at its interface: one JSON line for each measurement.
//   ksana_stores_bench DRIVER LOCATION PART…     DRIVER: sqlite (a folder), postgres (a URL)
//   parts: submit bulk drain drain_alone drain_500 drain_unkept drain_500_unkept lists latency, and
//   steady=MINUTES, fires=COUNT
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"
#include "stores/bare_postgres.hpp"
#include "stores/bench_clock.hpp"
#include "stores/fires.hpp"

namespace ksana::bench {
namespace {

constexpr std::size_t kClients = 16;
constexpr std::size_t kDrainRuns = 100'000;
constexpr std::size_t kListRuns = 1'000'000;
constexpr std::string_view kSteady = "steady=";
constexpr std::size_t kSliceSeconds = 20;
constexpr std::string_view kFires = "fires=";

template <class T>
T Must(Result<T> result) {
    KSANA_CHECK(result.has_value(), result.error().Describe());
    return *std::move(result);
}

// The parts of the benchmark. Owns the store; called from main(). Every error aborts.
class StoresBench {
  public:
    StoresBench(std::string driver, std::string location)
        : driver_(std::move(driver)), location_(std::move(location)) {}

    void Run(const std::string& part) {
        Open();
        if (part == "submit") Submit();
        if (part == "bulk") Bulk();
        if (part == "drain") DrainBy(4, 100, part);
        if (part == "drain_alone") DrainBy(1, 100, part);
        if (part == "drain_500") DrainBy(2, 500, part);
        if (part == "drain_unkept") DrainBy(4, 100, part, model::RunLog::kNone);
        if (part == "drain_500_unkept") DrainBy(2, 500, part, model::RunLog::kNone);
        if (part == "lists") Lists();
        if (part == "latency") Latency();
        if (part.starts_with(kSteady)) Steady(std::stoul(part.substr(kSteady.size())));
        if (part.starts_with(kFires)) Fires(std::stoul(part.substr(kFires.size())));
    }

  private:
    bool IsSqlite() const { return driver_ == "sqlite"; }

    // Opens an empty store.
    void Open() {
        store_.reset();
        std::unique_ptr<store_kit::Backend> backend;
        if (IsSqlite()) {
            std::filesystem::remove_all(location_);
            std::filesystem::create_directories(location_);
            backend = Must(store_sqlite::OpenSqlite(
                {.path = location_ + "/ksana.db", .clock = timer_.clock()}));
        } else {
            backend = Must(store_postgres::OpenPostgres(
                {.url = location_,
                 .clock = timer_.clock(),
                 .random = random_,
                 .pool_size = kClients,
                 .schema = fmt::format("bench_{:x}", random_.Next())}));
        }
        store_ = store_kit::MakeStore(std::move(backend), ids_);
    }

    static model::Run MakeRun() {
        model::Run run;
        run.type = "mail";
        run.payload = "\"" + std::string(98, 'p') + "\"";
        return run;
    }

    void Say(const std::string& what, double value, const std::string& unit = "1/s") {
        fmt::print(
            "{{\"driver\": \"{}\", \"what\": \"{}\", \"value\": {:.3f}, \"unit\": \"{}\"}}\n",
            driver_, what, value, unit);
    }

    void Submit() {
        const double rate = timer_.Rate(kClients, [&](std::atomic<std::int64_t>& done) {
            while (timer_.Goes()) {
                Must(store_->runs().Submit({.runs = {MakeRun()}}));
                ++done;
            }
        });
        Say("submit_16", rate);
    }

    // SQLite with four threads and with one: the store's group commit helps only concurrent
    // callers.
    void Bulk() {
        if (!IsSqlite()) return BulkBy(1, "bulk");
        BulkBy(4, "bulk");
        Open();
        BulkBy(1, "bulk_alone");
    }

    void BulkBy(std::size_t threads, const std::string& name) {
        const std::size_t batch = IsSqlite() ? 100 : 1'000;
        const std::vector<model::Run> runs(batch, MakeRun());
        const double rate = timer_.Rate(threads, [&](std::atomic<std::int64_t>& done) {
            while (timer_.Goes()) {
                Must(store_->runs().Submit({.runs = runs}));
                done += static_cast<std::int64_t>(batch);
            }
        });
        Say(name, rate);
    }

    void Fill(std::size_t count, model::RunLog kept) {
        model::Run run = MakeRun();
        run.policy.run_log = kept;
        const std::vector<model::Run> runs(1'000, run);
        for (std::size_t i = 0; i < count; i += runs.size()) {
            Must(store_->runs().Submit({.runs = runs}));
        }
    }

    // Reports the runs claimed before and claims up to `batch` more, in one call. Returns how many
    // were reported.
    std::int64_t Exchange(const std::string& owner, std::size_t batch,
                          std::vector<model::RunEvent>& events) {
        auto exchanged = Must(store_->runs().Exchange(
            {.events = std::move(events),
             .claim = store::ClaimParams{
                 .filter = {.types = {"mail"}}, .owner = owner, .limit = batch}}));
        events.clear();
        for (const model::Run& run : exchanged.claimed.runs) {
            events.push_back(
                {run.id, {.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id}});
        }
        return static_cast<std::int64_t>(exchanged.applied.size());
    }

    // Works until no run is left.
    void DrainOne(const std::string& owner, std::size_t batch, std::atomic<std::int64_t>& done) {
        std::vector<model::RunEvent> events;
        do {
            done += Exchange(owner, batch, events);
        } while (!events.empty());
    }

    // The bare programs keep nothing of finished runs, as with RunLog::kNone.
    void DrainBy(std::size_t threads, std::size_t batch, const std::string& name,
                 model::RunLog kept = model::RunLog::kFull) {
        Fill(kDrainRuns, kept);
        if (!IsSqlite()) BarePostgres(location_).Settle();
        std::atomic<int> number = 0;
        const double rate = timer_.Rate(threads, [&](std::atomic<std::int64_t>& done) {
            DrainOne(fmt::format("w{}", ++number), batch, done);
        });
        Say(name, rate);
    }

    // Each of four threads repeatedly submits 100 runs and finishes 100. Accumulating costs
    // (finished runs, dead rows, vacuum) show as slower slices.
    void Steady(std::size_t minutes) {
        const std::size_t slices = minutes * 60 / kSliceSeconds;
        std::vector<std::atomic<std::int64_t>> finished(slices);
        std::atomic<int> number = 0;
        const auto body = [&](std::atomic<std::int64_t>&) {
            const std::string owner = fmt::format("w{}", ++number);
            const std::vector<model::Run> runs(100, MakeRun());
            std::vector<model::RunEvent> events;
            while (timer_.Goes()) {
                Must(store_->runs().Submit({.runs = runs}));
                const std::int64_t reported = Exchange(owner, 100, events);
                const auto slice = static_cast<std::size_t>(timer_.Elapsed()) / kSliceSeconds;
                if (slice < slices) finished[slice] += reported;
            }
        };
        timer_.Rate(4, body, static_cast<double>(minutes) * 60);
        for (const std::atomic<std::int64_t>& count : finished) {
            Say("steady", static_cast<double>(count) / static_cast<double>(kSliceSeconds));
        }
    }

    // Measures page 1 and page 1,000 of a million finished runs.
    void Lists() {
        std::vector<model::Record> batch;
        for (std::size_t i = 0; i < kListRuns; ++i) {
            model::Run run = MakeRun();
            run.id = ids_.Next();
            run.status.state = model::RunState::kSucceeded;
            run.status.finished_at = TimePoint(Duration(i));
            batch.emplace_back(std::move(run));
            if (batch.size() < 5'000) continue;
            const auto added = store_->records().Add(batch);
            KSANA_CHECK(added.has_value(), "add");
            batch.clear();
        }
        store::RunQuery query;
        std::vector<double> took;
        for (int page = 1; page <= 1'000; ++page) {
            const double start = timer_.Seconds();
            const auto items = Must(store_->runs().List(query));
            took.push_back(timer_.Seconds() - start);
            query.cursor = items.next;
        }
        const auto median = [&](std::size_t from) {
            std::vector<double> some(took.begin() + static_cast<std::ptrdiff_t>(from),
                                     took.begin() + static_cast<std::ptrdiff_t>(from) + 20);
            std::ranges::sort(some);
            return some[some.size() / 2] * 1e6;
        };
        Say("page_1", median(0), "us");
        Say("page_1000", median(980), "us");
    }

    void Fires(std::size_t count) {
        FireBench fires(*store_);
        const double start = timer_.Seconds();
        const double cpu_start = CpuOfThread("sqlite writer");
        fires.Run(count);
        const auto fired = static_cast<double>(count);
        Say("fires", fired / (timer_.Seconds() - start));
        if (!IsSqlite()) return;
        Say("fire_writer_cpu", (CpuOfThread("sqlite writer") - cpu_start) / fired * 1e6, "us");
    }

    void Latency() {
        std::vector<double> took;
        for (int i = 0; i < 2'000; ++i) {
            const double start = timer_.Seconds();
            Must(store_->runs().Submit({.runs = {MakeRun()}}));
            took.push_back(timer_.Seconds() - start);
        }
        std::ranges::sort(took);
        Say("submit_p50", took[took.size() / 2] * 1e6, "us");
        Say("submit_p99", took[took.size() * 99 / 100] * 1e6, "us");
    }

    const std::string driver_;
    const std::string location_;
    BenchTimer timer_;
    SystemRandom random_;
    UuidGenerator ids_{timer_.clock(), random_};
    std::unique_ptr<store::Store> store_;
};

}  // namespace
}  // namespace ksana::bench

int main(int count, char** words) {
    if (count < 4) {
        fmt::print("usage: ksana_stores_bench sqlite|postgres LOCATION PART…\n");
        return 2;
    }
    ksana::bench::StoresBench bench(words[1], words[2]);
    for (int i = 3; i < count; ++i) bench.Run(words[i]);
    return 0;
}

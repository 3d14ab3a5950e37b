// What the PostgreSQL store does a second: ksana_postgres_bench URL [submit|bulk|drain]…
// To be set against the bare libpq program and pgbench on the same server.
#include <fmt/core.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ksana/base/clock.hpp"
#include "ksana/base/random.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"

namespace {

using namespace ksana;

struct Bench {
    SystemClock clock;
    SystemRandom random;
    UuidGenerator ids{clock, random};
    std::string url;
    std::unique_ptr<store::Store> store;

    double Seconds() const {
        return std::chrono::duration<double>(clock.SteadyNow().time_since_epoch()).count();
    }

    void Open(std::size_t pool) {
        store.reset();
        auto backend =
            store_postgres::OpenPostgres({.url = url,
                                          .clock = clock,
                                          .random = random,
                                          .pool_size = pool,
                                          .schema = fmt::format("bench_{:x}", random.Next())});
        if (!backend) throw std::runtime_error(backend.error().Describe());
        store = store_kit::MakeStore(std::move(*backend), ids);
    }
};

model::Run MakeRun() {
    model::Run run;
    run.type = "mail";
    run.payload = "\"" + std::string(98, 'p') + "\"";
    return run;
}

template <class T>
T Must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().Describe());
    return std::move(*result);
}

// Runs `body` on so many threads and says how much they did a second together.
template <class F>
double Rate(Bench& bench, int threads, const F& body) {
    std::atomic<long> done{0};
    const double start = bench.Seconds();
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < threads; ++i) {
            crowd.emplace_back([&, i] { body(i, start, done); });
        }
    }
    return static_cast<double>(done) / (bench.Seconds() - start);
}

void Submit(Bench& bench, int threads, std::size_t batch) {
    bench.Open(static_cast<std::size_t>(threads));
    const std::vector<model::Run> runs(batch, MakeRun());
    const double rate = Rate(bench, threads, [&](int, double start, std::atomic<long>& done) {
        while (bench.Seconds() - start < 3) {
            Must(bench.store->runs().Submit({.runs = runs}));
            done += static_cast<long>(batch);
        }
    });
    fmt::print("submit {} x {}: {:.0f} runs/s\n", threads, batch, rate);
    std::fflush(stdout);
}

void Drain(Bench& bench, int threads, std::size_t batch) {
    bench.Open(static_cast<std::size_t>(threads));
    const std::vector<model::Run> runs(1000, MakeRun());
    for (int i = 0; i < 100; ++i) Must(bench.store->runs().Submit({.runs = runs}));
    const double rate = Rate(bench, threads, [&](int index, double, std::atomic<long>& done) {
        const std::string owner = fmt::format("w{}", index);
        std::vector<store::RunEvent> events;
        while (true) {
            auto exchanged = Must(bench.store->runs().Exchange(
                {.events = std::move(events),
                 .claim = store::ClaimParams{
                     .filter = {.types = {"mail"}}, .owner = owner, .limit = batch}}));
            done += static_cast<long>(exchanged.applied.size());
            events.clear();
            for (const model::Run& run : exchanged.claimed.runs) {
                events.push_back(
                    {run.id, {.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id}});
            }
            if (events.empty()) break;
        }
    });
    fmt::print("drain {} x {}: {:.0f} runs/s\n", threads, batch, rate);
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
    Bench bench;
    bench.url = count > 1 ? arguments[1] : "";
    const std::string what = count > 2 ? arguments[2] : "all";
    if (what == "submit" || what == "all") {
        Submit(bench, 1, 1);
        Submit(bench, 16, 1);
    }
    if (what == "bulk" || what == "all") {
        Submit(bench, 1, 1000);
        Submit(bench, 2, 1000);
    }
    if (what == "drain" || what == "all") {
        Drain(bench, 1, 100);
        Drain(bench, 4, 100);
        Drain(bench, 2, 500);
    }
    return 0;
}

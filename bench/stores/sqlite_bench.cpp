// Rows through store_sqlite's backend, against a bare program on the same disk in the same run.
// ksana_sqlite_bench <folder> [part…]; parts: group insert drain latency large start

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "ksana/base/random.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"
#include "stores/bare_sqlite.hpp"

namespace ksana::bench {
namespace {

using store_kit::Backend;
using store_kit::Transaction;

constexpr std::chrono::seconds kTime{2};
constexpr std::size_t kPayloadBytes = 100;
constexpr std::size_t kDrainRuns = 50'000;

struct Bench {
    std::filesystem::path folder;
    SystemClock clock;
    SystemRandom random;
    UuidGenerator ids{clock, random};

    std::string Fresh(const std::string& name) {
        const std::string path = (folder / name).string();
        for (const char* end : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + end);
        return path;
    }
    std::unique_ptr<Backend> Open() {
        auto backend = store_sqlite::OpenSqlite({.path = Fresh("ksana_bench.db"), .clock = clock});
        KSANA_CHECK(backend, backend.error().Describe());
        return std::move(*backend);
    }
    double Since(SteadyPoint start) const {
        return std::chrono::duration<double>(clock.SteadyNow() - start).count();
    }
    model::Run MakeRun(std::size_t payload = kPayloadBytes) {
        model::Run run;
        run.id = ids.Next();
        run.type = "mail";
        run.payload = std::string(payload, 'p');
        run.created_at = run.updated_at = run.status.ready_at = clock.Now();
        run.status.state = model::RunState::kQueued;
        return run;
    }
    std::vector<model::Run> MakeRuns(std::size_t count, std::size_t payload = kPayloadBytes) {
        std::vector<model::Run> runs;
        for (std::size_t i = 0; i < count; ++i) runs.push_back(MakeRun(payload));
        return runs;
    }
};

void Insert(Backend& backend, const std::vector<model::Run>& runs) {
    const auto written = backend.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const auto inserted, tx.InsertRuns(runs));
        return {};
    });
    KSANA_CHECK(written, written.error().Describe());
}

void Report(const std::string& what, double bare, double ours) {
    fmt::print("{:<28} bare {:>9.0f}/s  store {:>9.0f}/s  ratio {:.2f}\n", what, bare, ours,
               ours / bare);
}

// Blocked clients, one writer that takes all that is pending: the bare form.
double BareGroup(Bench& bench, std::size_t clients) {
    BareSqlite bare(bench.Fresh("bare.db"));
    const std::string payload(kPayloadBytes, 'p');
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<std::condition_variable> ready(clients);
    std::vector<char> done(clients, 0);
    std::vector<std::size_t> pending;
    bool end = false;
    bool stop = false;
    std::int64_t total = 0;
    std::jthread writer([&] {
        std::vector<std::size_t> taken;
        for (;;) {
            {
                std::unique_lock lock(mutex);
                arrived.wait(lock, [&] { return stop || !pending.empty(); });
                if (stop) return;
                taken.swap(pending);
            }
            bare.Begin();
            for (std::size_t i = 0; i < taken.size(); ++i) bare.Insert(++total, payload);
            bare.Commit();
            const std::lock_guard lock(mutex);
            for (const std::size_t client : taken) {
                done[client] = 1;
                ready[client].notify_one();
            }
            taken.clear();
        }
    });
    const auto start = bench.clock.SteadyNow();
    {
        std::vector<std::jthread> threads;
        for (std::size_t c = 0; c < clients; ++c) {
            threads.emplace_back([&, c] {
                for (;;) {
                    std::unique_lock lock(mutex);
                    if (end) return;
                    pending.push_back(c);
                    arrived.notify_one();
                    ready[c].wait(lock, [&] { return done[c] != 0; });
                    done[c] = 0;
                    if (bench.Since(start) > double(kTime.count())) end = true;
                }
            });
        }
    }
    const double rate = double(total) / bench.Since(start);
    {
        const std::lock_guard lock(mutex);
        stop = true;
        arrived.notify_one();
    }
    return rate;
}

double StoreGroup(Bench& bench, std::size_t clients) {
    auto backend = bench.Open();
    std::atomic<std::int64_t> total{0};
    const auto start = bench.clock.SteadyNow();
    {
        std::vector<std::jthread> threads;
        for (std::size_t c = 0; c < clients; ++c) {
            threads.emplace_back([&] {
                while (bench.Since(start) < double(kTime.count())) {
                    Insert(*backend, {bench.MakeRun()});
                    ++total;
                }
            });
        }
    }
    return double(total) / bench.Since(start);
}

double BareInsert(Bench& bench, std::size_t batch) {
    BareSqlite bare(bench.Fresh("bare.db"));
    const std::string payload(kPayloadBytes, 'p');
    std::int64_t total = 0;
    const auto start = bench.clock.SteadyNow();
    while (bench.Since(start) < double(kTime.count())) {
        bare.Begin();
        for (std::size_t i = 0; i < batch; ++i) bare.Insert(++total, payload);
        bare.Commit();
    }
    return double(total) / bench.Since(start);
}

double StoreInsert(Bench& bench, std::size_t batch) {
    auto backend = bench.Open();
    std::size_t total = 0;
    const auto start = bench.clock.SteadyNow();
    double making = 0;  // of the runs themselves is not the store's
    while (bench.Since(start) < double(kTime.count())) {
        const auto before = bench.clock.SteadyNow();
        const auto runs = bench.MakeRuns(batch);
        making += bench.Since(before);
        Insert(*backend, runs);
        total += batch;
    }
    return double(total) / (bench.Since(start) - making);
}

double BareDrain(Bench& bench, std::size_t batch) {
    BareSqlite bare(bench.Fresh("bare.db"));
    const std::string payload(kPayloadBytes, 'p');
    bare.Begin();
    for (std::size_t i = 0; i < kDrainRuns; ++i) bare.Insert(std::int64_t(i), payload);
    bare.Commit();
    const auto start = bench.clock.SteadyNow();
    for (std::size_t claimed = 1; claimed > 0;) {
        bare.Begin();
        claimed = bare.ClaimAndDelete(batch);
        bare.Commit();
    }
    return double(kDrainRuns) / bench.Since(start);
}

void StartRun(model::Run& run, TimePoint now) {
    run.status.state = model::RunState::kRunning;
    run.status.attempt = 1;
    run.status.fence = 1;
    run.status.exec_id = "0190a0c0-0000-7000-8000-000000000000";
    run.status.owner = "worker-1";
    run.status.started_at = now;
    run.status.lease_until = now + std::chrono::seconds(30);
    run.status.deadline = now + std::chrono::seconds(10);
}

void EndRun(model::Run& run, TimePoint now) {
    run.status.state = model::RunState::kSucceeded;
    run.status.last_report = model::EventKind::kSuccess;
    run.status.outcome = model::AttemptOutcome::kSucceeded;
    run.status.lease_until.reset();
    run.status.ended_at = run.status.finished_at = now;
    run.status.result = "true";
}

// What an exchange does to rows: ends those that were started before, starts the next ones.
double StoreDrain(Bench& bench, std::size_t batch, std::size_t payload, std::size_t count) {
    auto backend = bench.Open();
    for (std::size_t i = 0; i < count; i += batch) {
        Insert(*backend, bench.MakeRuns(batch, payload));
    }
    std::vector<Uuid> held;
    const auto start = bench.clock.SteadyNow();
    do {
        std::vector<Uuid> next;
        const auto written = backend->Write([&](Transaction& tx) -> Result<void> {
            next.clear();
            const TimePoint now = bench.clock.Now();
            KSANA_TRY(auto ended, tx.LockRuns(held));
            for (model::Run& run : ended) EndRun(run, now);
            KSANA_TRY_VOID(tx.UpdateRuns(ended));
            KSANA_TRY(auto started, tx.LockReady({.types = {"mail"}}, batch));
            for (model::Run& run : started) {
                StartRun(run, now);
                next.push_back(run.id);
            }
            return tx.UpdateRuns(started);
        });
        KSANA_CHECK(written, written.error().Describe());
        held = std::move(next);
    } while (!held.empty());
    return double(count) / bench.Since(start);
}

void Latency(Bench& bench) {
    auto backend = bench.Open();
    std::vector<double> took;
    for (int i = 0; i < 2'000; ++i) {
        const auto runs = bench.MakeRuns(1);
        const auto start = bench.clock.SteadyNow();
        Insert(*backend, runs);
        took.push_back(bench.Since(start) * 1e6);
    }
    std::ranges::sort(took);
    fmt::print("single commit: p50 {:.0f} us, p99 {:.0f} us\n", took[took.size() / 2],
               took[took.size() * 99 / 100]);
}

void Start(Bench& bench) {
    const auto start = bench.clock.SteadyNow();
    auto backend = bench.Open();
    const double opened = bench.Since(start);
    Insert(*backend, {bench.MakeRun()});
    fmt::print("new database opened after {:.1f} ms, first commit after {:.1f} ms\n", opened * 1e3,
               bench.Since(start) * 1e3);
    backend.reset();
    const auto again = bench.clock.SteadyNow();
    auto reopened = store_sqlite::OpenSqlite(
        {.path = (bench.folder / "ksana_bench.db").string(), .clock = bench.clock});
    KSANA_CHECK(reopened, "reopen");
    const double second = bench.Since(again);
    Insert(**reopened, {bench.MakeRun()});
    fmt::print("existing one opened after {:.1f} ms, first commit after {:.1f} ms\n", second * 1e3,
               bench.Since(again) * 1e3);
}

void RunPart(Bench& bench, const std::string& part) {
    if (part == "group") {
        for (const std::size_t clients : {1U, 16U, 64U}) {
            const double bare = BareGroup(bench, clients);
            Report(fmt::format("group commit, {} clients", clients), bare,
                   StoreGroup(bench, clients));
        }
    } else if (part == "insert") {
        for (const std::size_t batch : {10U, 100U, 1000U}) {
            const double bare = BareInsert(bench, batch);
            Report(fmt::format("insert, batches of {}", batch), bare, StoreInsert(bench, batch));
        }
    } else if (part == "drain") {
        for (const std::size_t batch : {10U, 100U, 500U}) {
            const double bare = BareDrain(bench, batch);
            Report(fmt::format("start and finish {}", batch), bare,
                   StoreDrain(bench, batch, kPayloadBytes, kDrainRuns));
        }
    } else if (part == "large") {
        fmt::print("start and finish with 1 MB payloads: {:.0f}/s\n",
                   StoreDrain(bench, 10, 1 << 20, 200));
    } else if (part == "latency") {
        Latency(bench);
    } else if (part == "start") {
        Start(bench);
    }
}

}  // namespace
}  // namespace ksana::bench

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(
            "usage: ksana_sqlite_bench <folder> [group|insert|drain|large|latency|start]…\n");
        return 2;
    }
    ksana::bench::Bench bench;
    bench.folder = argv[1];
    std::vector<std::string> parts(argv + 2, argv + argc);
    if (parts.empty()) parts = {"group", "insert", "drain", "large", "latency", "start"};
    for (const std::string& part : parts) ksana::bench::RunPart(bench, part);
    return 0;
}

// Measures the baselines of the stores: the same work by a program that stores only a narrow row.
// One JSON line for each measurement.
//   ksana_bare_bench sqlite FOLDER | postgres URL
#include <fmt/core.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "stores/bare_postgres.hpp"
#include "stores/bare_sqlite.hpp"
#include "stores/bench_clock.hpp"

namespace ksana::bench {
namespace {

constexpr std::size_t kClients = 16;
constexpr std::size_t kRuns = 100'000;

void Say(const char* driver, const char* what, double rate) {
    fmt::print(
        "{{\"driver\": \"bare {}\", \"what\": \"{}\", \"value\": {:.3f}, \"unit\": \"1/s\"}}\n",
        driver, what, rate);
}

// Group commit without a store: clients block, and one writer commits all pending inserts in one
// transaction. Insert() may be called on any thread, once at a time for each client; Write()
// belongs to the writer's thread.
class BareGroup {
  public:
    BareGroup(BareSqlite& bare, std::size_t clients)
        : bare_(bare), done_(clients), woken_(clients) {}

    void Insert(std::size_t client) {
        std::unique_lock lock(mutex_);
        pending_.push_back(client);
        arrived_.notify_one();
        woken_[client].wait(lock, [&] { return done_[client] != 0; });
        done_[client] = 0;
    }

    void Write(const std::stop_token& stop) {
        const std::string payload(100, 'p');
        std::vector<std::size_t> taken;
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                if (!arrived_.wait(lock, stop, [&] { return !pending_.empty(); })) return;
                taken.swap(pending_);
            }
            bare_.Begin();
            for (std::size_t i = 0; i < taken.size(); ++i) bare_.Insert(++total_, payload);
            bare_.Commit();
            const std::lock_guard lock(mutex_);
            for (const std::size_t client : taken) {
                done_[client] = 1;
                woken_[client].notify_one();
            }
            taken.clear();
        }
    }

  private:
    BareSqlite& bare_;
    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::vector<std::size_t> pending_;
    std::vector<char> done_;
    std::vector<std::condition_variable> woken_;
    std::int64_t total_ = 0;
};

std::string FreshFile(const std::string& folder) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder + "/bare.db";
}

void Sqlite(const std::string& folder) {
    BenchTimer timer;
    const std::string payload(100, 'p');
    {
        BareSqlite bare(FreshFile(folder));
        BareGroup group(bare, kClients);
        std::jthread writer([&](const std::stop_token& stop) { group.Write(stop); });
        std::atomic<std::size_t> number = 0;
        Say("sqlite", "submit_16", timer.Rate(kClients, [&](std::atomic<std::int64_t>& done) {
            const std::size_t client = number++;
            while (timer.Goes()) {
                group.Insert(client);
                ++done;
            }
        }));
    }
    {
        BareSqlite bare(FreshFile(folder));
        Say("sqlite", "bulk", timer.Rate(1, [&](std::atomic<std::int64_t>& done) {
            while (timer.Goes()) {
                bare.Begin();
                for (int i = 0; i < 100; ++i) bare.Insert(++done, payload);
                bare.Commit();
            }
        }));
    }
    BareSqlite bare(FreshFile(folder));
    bare.Begin();
    for (std::size_t i = 0; i < kRuns; ++i) bare.Insert(static_cast<std::int64_t>(i), payload);
    bare.Commit();
    Say("sqlite", "drain", timer.Rate(1, [&](std::atomic<std::int64_t>& done) {
        for (std::size_t claimed = 1; claimed > 0;) {
            bare.Begin();
            claimed = bare.ClaimAndDelete(100);
            bare.Commit();
            done += static_cast<std::int64_t>(claimed);
        }
    }));
}

void Postgres(const std::string& url) {
    BenchTimer timer;
    {
        BarePostgres bare(url);
        bare.Reset(0);
        Say("postgres", "bulk", timer.Rate(1, [&](std::atomic<std::int64_t>& done) {
            while (timer.Goes()) {
                bare.Insert(1'000);
                done += 1'000;
            }
        }));
    }
    const auto drain = [&](std::size_t threads, std::size_t batch, const char* name) {
        BarePostgres(url).Reset(kRuns);
        Say("postgres", name, timer.Rate(threads, [&](std::atomic<std::int64_t>& done) {
            BarePostgres bare(url);
            while (const std::size_t claimed = bare.DeleteAndClaim(batch)) {
                done += static_cast<std::int64_t>(claimed);
            }
        }));
    };
    drain(4, 100, "drain");
    drain(2, 500, "drain_500");
}

}  // namespace
}  // namespace ksana::bench

int main(int count, char** words) {
    if (count != 3) {
        fmt::print("usage: ksana_bare_bench sqlite FOLDER | postgres URL\n");
        return 2;
    }
    if (std::string(words[1]) == "sqlite") {
        ksana::bench::Sqlite(words[2]);
    } else {
        ksana::bench::Postgres(words[2]);
    }
    return 0;
}

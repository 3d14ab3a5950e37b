// The engine inside a program, with handlers that do nothing, on durable SQLite. Prints one JSON
// line.
//   ksana_handler_load FOLDER drain COUNT            waiting tasks, until the last is reported
//   ksana_handler_load FOLDER latency RATE SECONDS   time from a submit to the handler's start,
//                                                    submits spread evenly over the time
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/engine.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"

namespace ksana::bench {
namespace {

constexpr std::size_t kSlots = 1'000;  // for each of two dispatchers
constexpr std::size_t kBatch = 1'000;
constexpr Duration kPatience = std::chrono::seconds(120);

template <class T>
T Must(Result<T> result) {
    KSANA_CHECK(result.has_value(), result.error().Describe());
    return *std::move(result);
}

std::int64_t Nanos(SteadyPoint point) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(point.time_since_epoch()).count();
}

// A handler that finishes at once, on the calling thread: the benchmark measures the engine, not a
// thread pool. The payload of a task holds its submit time. Start() may be called on any thread.
class NoOpHandlers final : public engine::Executor {
  public:
    NoOpHandlers(const Clock& clock, std::size_t count) : clock_(clock) { waited_.reserve(count); }

    model::ActionKind kind() const override { return model::ActionKind::kHandler; }

    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override {
        const std::string& payload = attempt->run.payload;
        std::int64_t sent = 0;
        std::from_chars(payload.data(), payload.data() + payload.size(), sent);
        if (sent > 0) Note(Nanos(clock_.SteadyNow()) - sent);
        model::Event event;
        event.kind = model::EventKind::kSuccess;
        done(std::move(event));
    }
    void Cancel(std::string_view /*exec_id*/) override {}

    std::vector<std::int64_t> Waited() {
        const std::lock_guard lock(mutex_);
        return waited_;
    }

  private:
    void Note(std::int64_t nanos) {
        const std::lock_guard lock(mutex_);
        waited_.push_back(nanos);
    }

    const Clock& clock_;
    std::mutex mutex_;
    std::vector<std::int64_t> waited_;  // guarded by mutex_
};

// Notes when the first run was started and when the last was reported and committed. Thread-safe:
// the engine calls it on its own threads.
class Progress final : public engine::Observer {
  public:
    Progress(Clock& clock, std::size_t count) : clock_(clock), left_(count) {}

    void Started(const model::Run& /*run*/, Duration /*late*/) override {
        std::int64_t none = 0;
        if (first_ == 0) first_.compare_exchange_strong(none, Nanos(clock_.SteadyNow()));
    }
    void Ended(const engine::AttemptEnd& end) override {
        KSANA_CHECK(end.applied.state == model::RunState::kSucceeded, end.applied.reason);
        if (--left_ > 0) return;
        last_ = Nanos(clock_.SteadyNow());
        over_.Notify();
    }
    void StepFailed(std::string_view loop, const Error& error) override {
        KSANA_CHECK(false, fmt::format("{}: {}", loop, error.Describe()));
    }

    // Blocks until all runs have ended. Returns the seconds from the first start to the last end;
    // aborts after kPatience.
    double Await() {
        const WaitOutcome outcome = clock_.Wait(over_, clock_.SteadyNow() + kPatience, {});
        KSANA_CHECK(outcome == WaitOutcome::kNotified, fmt::format("{} are left", left_.load()));
        return static_cast<double>(last_ - first_) / 1e9;
    }

  private:
    Clock& clock_;
    std::atomic<std::size_t> left_;
    std::atomic<std::int64_t> first_{0};
    std::atomic<std::int64_t> last_{0};
    Wakeup over_;
};

// A program that embeds the engine. Lives in main().
class Program {
  public:
    Program(const std::string& folder, std::size_t count)
        : store_(OpenIn(folder)), handlers_(clock_, count), progress_(clock_, count) {}

    void Fill(std::size_t count) {
        for (std::size_t i = 0; i < count; i += kBatch) {
            const std::vector<model::Run> runs(std::min(kBatch, count - i), MakeRun("0"));
            Must(store_->runs().Submit({.runs = runs}));
        }
    }

    void Start() {
        const auto started = engine_.Start();
        KSANA_CHECK(started.has_value(), started.error().Describe());
    }

    void Drain(std::size_t count) {
        Fill(count);
        Start();
        const double seconds = progress_.Await();
        fmt::print("{{\"per_second\": {:.1f}, \"count\": {}}}\n",
                   static_cast<double>(count) / seconds, count);
    }

    void Latency(std::int64_t rate, std::int64_t seconds) {
        Start();
        Wakeup never;
        const SteadyPoint start = clock_.SteadyNow() + std::chrono::milliseconds(500);
        for (std::int64_t i = 0; i < rate * seconds; ++i) {
            clock_.Wait(never, start + std::chrono::microseconds(i * 1'000'000 / rate), {});
            Must(node_.Submit({.runs = {MakeRun(std::to_string(Nanos(clock_.SteadyNow())))}}));
        }
        progress_.Await();
        std::vector<std::int64_t> waited = handlers_.Waited();
        std::sort(waited.begin(), waited.end());
        const auto at = [&](std::size_t percent) {
            return static_cast<double>(waited[(waited.size() - 1) * percent / 100]) / 1e6;
        };
        fmt::print(
            "{{\"p50_ms\": {:.3f}, \"p99_ms\": {:.3f}, \"max_ms\": {:.3f}, \"count\": {}}}\n",
            at(50), at(99), at(100), waited.size());
    }

  private:
    std::unique_ptr<store::Store> OpenIn(const std::string& folder) {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        return store_kit::MakeStore(
            Must(store_sqlite::OpenSqlite({.path = folder + "/ksana.db", .clock = clock_})), ids_);
    }

    static model::Run MakeRun(std::string payload) {
        model::Run run;
        run.kind = model::ActionKind::kHandler;
        run.type = "bench";
        run.payload = std::move(payload);
        run.policy = model::EffectivePolicy(nullptr, nullptr, model::PolicyDefaults{});
        return run;
    }

    static engine::NodeOptions Options() {
        engine::NodeOptions options;
        options.only_one = true;
        options.slots = kSlots;
        options.claim_batch = kBatch;
        options.late_start_rate = 0;
        return options;
    }

    SystemClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_;
    schedule::ZoneDatabase zones_;
    NoOpHandlers handlers_;
    Progress progress_;
    engine::Node node_{*store_, {&handlers_, &handlers_}, zones_, clock_, Options(), &progress_};
    engine::Engine engine_{node_, *store_, clock_, &progress_, {}};
};

int Main(const std::vector<std::string>& words) {
    const std::string what = words.size() > 2 ? words[2] : "";
    const auto number = [&](std::size_t place) { return std::atoll(words[place].c_str()); };
    KSANA_CHECK(ConfigureLog({.level = LogLevel::kWarn}).has_value(), "the log");
    if (what == "drain" && words.size() == 4) {
        const auto count = static_cast<std::size_t>(number(3));
        Program(words[1], count).Drain(count);
        return 0;
    }
    if (what == "latency" && words.size() == 5) {
        const auto count = static_cast<std::size_t>(number(3) * number(4));
        Program(words[1], count).Latency(number(3), number(4));
        return 0;
    }
    fmt::print(stderr, "usage: ksana_handler_load FOLDER drain COUNT | latency RATE SECONDS\n");
    return 2;
}

}  // namespace
}  // namespace ksana::bench

int main(int argc, char** argv) { return ksana::bench::Main({argv, argv + argc}); }

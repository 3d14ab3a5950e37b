// Concurrent callers.
#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::EventVerdict;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;

// Runs `body(n)` on `count` threads that start at the same moment.
void OnThreads(int count, const std::function<void(int)>& body) {
    std::latch start(count);
    std::vector<std::jthread> threads;
    for (int n = 0; n < count; ++n) {
        threads.emplace_back([&, n] {
            start.arrive_and_wait();
            body(n);
        });
    }
}

// T-03: two agents never get the same task.
TEST_P(StoreTest, SixteenThreadsNeverClaimTheSameRun) {
    constexpr int kRuns = 400;
    std::vector<Run> batch;
    for (int i = 0; i < kRuns; ++i) batch.push_back(MakeRun(i % 3 == 0 ? "a" : "b"));
    Submit(batch);
    std::mutex mutex;
    std::multiset<Uuid> claimed;
    OnThreads(16, [&](int n) {
        const store::ClaimFilter filter{.types = n % 4 == 0 ? std::vector<std::string>{"a"}
                                                            : std::vector<std::string>{}};
        for (;;) {
            auto got = runs().Claim({.filter = filter,
                                     .owner = "w" + std::to_string(n),
                                     .limit = static_cast<std::size_t>(1 + n % 5)},
                                    now_);
            ASSERT_TRUE(got) << got.error().Describe();
            if (got->runs.empty()) return;
            const std::lock_guard lock(mutex);
            for (const Run& run : got->runs) claimed.insert(run.id);
        }
    });
    // A claim skips rows that another one has locked, so the threads may stop early: claim the rest
    // here.
    for (const Run& run : Claim(kRuns)) claimed.insert(run.id);
    EXPECT_EQ(claimed.size(), static_cast<std::size_t>(kRuns));
    EXPECT_EQ(std::set<Uuid>(claimed.begin(), claimed.end()).size(), claimed.size());
}

// A fire that is submitted repeatedly while its run ends is stored once, also if its job does not
// exist.
TEST_P(StoreTest, AFireIsStoredOnceWhileItsRunEnds) {
    const model::Job gone = MakeJob("gone");
    for (int round = 0; round < 20; ++round) {
        now_ += minutes(1);
        const Uuid id = SubmitOne(MakeFire(gone, now_));
        const auto claimed = ClaimHttp();
        ASSERT_EQ(claimed.size(), 1U);
        std::vector<Run> again;
        for (int n = 0; n < 4; ++n) again.push_back(MakeFire(gone, now_));
        OnThreads(4, [&](int n) {
            if (n == 0) {
                EXPECT_EQ(Report(claimed[0], EventKind::kSuccess).verdict, EventVerdict::kApplied);
                return;
            }
            for (int i = 0; i < 5; ++i) {
                const auto outcomes = Submit({again[static_cast<std::size_t>(n)]});
                ASSERT_EQ(outcomes.size(), 1U);
                EXPECT_EQ(outcomes[0].verdict, store::SubmitVerdict::kSameFire);
                EXPECT_EQ(outcomes[0].id, id);
            }
        });
    }
    EXPECT_EQ(*runs().Count({}, 1'000), 20);
}

// Of several reports that end one attempt exactly one is applied, and the stored run agrees with
// it.
TEST_P(StoreTest, OneReportWins) {
    for (int round = 0; round < 20; ++round) {
        SubmitOne(MakeRun());
        const Run run = ClaimOne();
        const TimePoint late = now_ + minutes(2);
        std::atomic<int> won = 0;
        std::atomic<bool> reaped = false;
        OnThreads(4, [&](int n) {
            if (n == 0) {
                auto got = runs().Reap({.now = late});
                ASSERT_TRUE(got);
                if (!got->runs.empty()) {
                    reaped = true;
                    ++won;
                }
                return;
            }
            const EventKind kind = n == 1 ? EventKind::kSuccess : EventKind::kPermanentFailure;
            auto applied =
                runs().Apply({{run.id, {.kind = kind, .exec_id = run.status.exec_id}}}, late);
            ASSERT_TRUE(applied);
            if (applied->at(0).verdict == EventVerdict::kApplied) ++won;
        });
        EXPECT_EQ(won, 1);
        const auto history = Read(run.id);
        EXPECT_EQ(history.attempts.size(), 1U);
        EXPECT_EQ(history.run.status.state == RunState::kQueued, reaped.load());
        if (reaped) {
            Apply(run.id, {.kind = EventKind::kCancel});
        }
    }
}

TEST_P(StoreTest, CancelAgainstSuccess) {
    for (int round = 0; round < 20; ++round) {
        SubmitOne(MakeRun());
        const Run run = ClaimOne();
        OnThreads(2, [&](int n) {
            auto applied =
                n == 0
                    ? runs().Apply({{run.id, {.kind = EventKind::kCancel}}}, now_)
                    : runs().Apply(
                          {{run.id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id}}},
                          now_);
            ASSERT_TRUE(applied);
        });
        EXPECT_EQ(StateOf(run.id), RunState::kSucceeded) << "what was done is done";
    }
}

TEST_P(StoreTest, TwoReapersTakeALeaseOnce) {
    constexpr int kRuns = 60;
    std::vector<Run> batch;
    for (int i = 0; i < kRuns; ++i) batch.push_back(MakeRun());
    Submit(batch);
    ASSERT_EQ(Claim(kRuns).size(), static_cast<std::size_t>(kRuns));
    now_ += seconds(40);
    std::atomic<std::size_t> reaped = 0;
    OnThreads(4, [&](int) {
        for (int i = 0; i < 8; ++i) {
            auto got = runs().Reap({.now = now_, .limit = 10});
            ASSERT_TRUE(got) << got.error().Describe();
            reaped += got->runs.size();
        }
    });
    reaped += runs().Reap({.now = now_})->runs.size();
    EXPECT_EQ(reaped, static_cast<std::size_t>(kRuns));
    EXPECT_EQ(*runs().Count({.states = model::SetOf(RunState::kQueued)}, 100), kRuns);
}

// K-24: several planners make one run for a fire.
TEST_P(StoreTest, SeveralPlannersFireOnce) {
    for (int i = 0; i < 30; ++i) Create(MakeJob("j" + std::to_string(i)));
    now_ += minutes(1);
    std::atomic<std::size_t> written = 0;
    OnThreads(4, [&](int) {
        for (int i = 0; i < 5; ++i) {
            auto planned = jobs().PlanDue(
                {.now = now_, .limit = 10},
                [this](const model::Job& job, TimePoint now) { return PlanEveryMinute(job, now); });
            ASSERT_TRUE(planned) << planned.error().Describe();
            written += planned->runs;
        }
    });
    written += PlanDue().runs;
    EXPECT_EQ(written, 30U);
    EXPECT_EQ(*runs().Count({}, 100), 30);
}

// Overlap rules hold across the cluster: two runs of one job are never under way at once.
TEST_P(StoreTest, OverlapHoldsUnderLoad) {
    model::Job job = MakeJob("j1");
    job.overlap = model::OverlapPolicy::kQueueAll;
    Create(job);
    constexpr int kFires = 40;
    for (int i = 0; i < kFires; ++i) {
        now_ += seconds(1);
        SubmitOne(MakeFire(job, now_));
    }
    std::atomic<int> under_way = 0;
    std::atomic<int> done = 0;
    OnThreads(4, [&](int n) {
        for (int turn = 0; turn < 4'000 && done < kFires; ++turn) {
            auto got = runs().Claim(
                {.filter = {.kind = model::ActionKind::kHttp}, .owner = "w" + std::to_string(n)},
                now_);
            ASSERT_TRUE(got) << got.error().Describe();
            if (got->runs.empty()) continue;
            EXPECT_EQ(++under_way, 1) << "two runs of one job at once";
            --under_way;
            const Run& run = got->runs[0];
            auto applied = runs().Apply(
                {{run.id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id}}}, now_);
            ASSERT_TRUE(applied);
            if (applied->at(0).verdict == EventVerdict::kApplied) ++done;
        }
    });
    EXPECT_EQ(done, kFires) << "none was left waiting";
}

TEST_P(StoreTest, OneEditorWins) {
    const model::Job job = Create(MakeJob("j1"));
    std::atomic<int> won = 0;
    OnThreads(8, [&](int n) {
        model::Job edit = job;
        edit.name = "by " + std::to_string(n);
        auto written = Write(edit, store::WriteMode::kReplace, 1);
        if (written) {
            ++won;
        } else {
            EXPECT_EQ(written.error().code, Code::kConflict);
        }
    });
    EXPECT_EQ(won, 1);
    EXPECT_EQ(jobs().Get("j1")->state.version, 2);
}

TEST_P(StoreTest, OneCreatorWins) {
    std::atomic<int> won = 0;
    OnThreads(8, [&](int) {
        auto written = Write(MakeJob("j1"));
        if (written) {
            ++won;
        } else {
            EXPECT_EQ(written.error().code, Code::kAlreadyExists) << written.error().Describe();
        }
    });
    EXPECT_EQ(won, 1);
}

// Idempotency: of many runs with one key one is stored, and every caller gets its id.
TEST_P(StoreTest, OneKeyOneRun) {
    std::mutex mutex;
    std::set<Uuid> told;
    std::atomic<int> stored = 0;
    OnThreads(8, [&](int) {
        for (int i = 0; i < 5; ++i) {
            Run run = MakeRun();
            run.unique.key = "the only one";
            auto outcome = runs().Submit({.now = now_, .runs = {run}});
            ASSERT_TRUE(outcome) << outcome.error().Describe();
            stored += outcome->at(0).verdict == store::SubmitVerdict::kStored ? 1 : 0;
            const std::lock_guard lock(mutex);
            told.insert(outcome->at(0).id);
        }
    });
    EXPECT_EQ(stored, 1);
    EXPECT_EQ(told.size(), 1U);
}

TEST_P(StoreTest, OneHolderOfALock) {
    std::atomic<int> won = 0;
    OnThreads(8, [&](int n) {
        auto taken = store().locks().TryAcquire(
            {.name = "l", .owner = "o" + std::to_string(n), .now = now_});
        ASSERT_TRUE(taken) << taken.error().Describe();
        won += taken->granted ? 1 : 0;
    });
    EXPECT_EQ(won, 1);
}

}  // namespace
}  // namespace ksana::conformance

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>

#include "ksana/base/process/mutex.hpp"
#include "ksana/store_postgres/backend_fixture.hpp"

// Exchanges that arrive together share transactions (G3p). What they mean then is tested without
// threads in store_memory/shared_exchange_test.cpp.

namespace ksana::store_postgres {
namespace {

using store_kit::SharedWrite;
using store_kit::Transaction;

// Records how many writes ran together, and inserts a run so that there is something to commit.
class Probe final : public SharedWrite {
  public:
    explicit Probe(UuidGenerator& ids) { run_.id = ids.Next(); }

    std::function<Result<void>()> body;
    std::size_t together = 0;

    Result<void> DoAll(Transaction& tx, std::span<SharedWrite* const> all) override {
        KSANA_TRY([[maybe_unused]] const auto inserted, tx.InsertRuns({&run_}));
        Result<void> result;
        for (SharedWrite* one : all) {
            Probe& probe = static_cast<Probe&>(*one);
            probe.together = all.size();
            if (probe.body) result = probe.body();
            if (!result) return result;
        }
        return result;
    }
    std::size_t weight() const override { return 1; }

  private:
    model::Run run_;
};

class ShareTest : public BackendTest {
  protected:
    static constexpr std::size_t kRuns = 2'000;

    void Fill() {
        std::vector<model::Run> runs;
        for (std::size_t i = 0; i < kRuns; ++i) {
            runs.push_back(MakeRun(i % 3 == 0 ? "bill" : "mail"));
        }
        ASSERT_TRUE(store_->runs().Submit({.runs = runs}));
    }

    // Claims and reports until no run of the type is left.
    void Drain(const std::string& owner, const std::string& type) {
        std::vector<model::RunEvent> events;
        do {
            const std::size_t reported = events.size();
            auto exchanged = store_->runs().Exchange(
                {.events = std::move(events),
                 .claim =
                     store::ClaimParams{.filter = {.types = {type}}, .owner = owner, .limit = 7}});
            ASSERT_TRUE(exchanged) << exchanged.error().Describe();
            ASSERT_EQ(exchanged->applied.size(), reported);
            for (const auto& applied : exchanged->applied) {
                EXPECT_EQ(applied.verdict, model::EventVerdict::kApplied) << applied.reason;
            }
            events.clear();
            const MutexLock lock(mutex_);
            for (const model::Run& run : exchanged->claimed.runs) {
                EXPECT_EQ(run.status.owner, owner);
                EXPECT_EQ(run.type, type);
                EXPECT_TRUE(seen_.insert(run.id).second) << "given twice";
                events.push_back(
                    {run.id, {.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id}});
            }
        } while (!events.empty());
    }

    // Drains all runs with eight threads while `meanwhile` runs.
    void DrainAll(const std::function<void()>& meanwhile) {
        Fill();
        {
            std::vector<std::jthread> crowd;
            for (int i = 0; i < 8; ++i) {
                crowd.emplace_back(
                    [&, i] { Drain("w" + std::to_string(i), i % 2 ? "mail" : "bill"); });
            }
            meanwhile();
        }
        EXPECT_EQ(Seen(), kRuns);
        EXPECT_EQ(*store_->runs().Count({.states = model::kUnfinishedStates}, 10), 0);
    }

    std::size_t Seen() {
        const MutexLock lock(mutex_);
        return seen_.size();
    }

  private:
    Mutex mutex_;
    std::set<Uuid> seen_ KSANA_GUARDED_BY(mutex_);
};

// Each run is claimed by one caller, which reports it.
TEST_F(ShareTest, EveryCallerHasItsOwnRuns) {
    DrainAll([] {});
}

// No run is lost or claimed twice when connections break, even during a commit.
TEST_F(ShareTest, TerminatedBackendsUnderLoad) {
    DrainAll([&] {
        for (std::size_t round = 1; round <= 5; ++round) {
            while (Seen() < round * 300 && !HasFailure()) std::this_thread::yield();
            TerminateBackends();
        }
    });
}

// A group does not wait for another group that is in progress.
TEST_F(ShareTest, TwoGroupsAreUnderWayAtOnce) {
    std::promise<void> begun;
    std::promise<void> over;
    bool waited_in_vain = false;
    Probe first(ids_);
    first.body = [&]() -> Result<void> {
        begun.set_value();
        const auto told = over.get_future().wait_for(std::chrono::seconds(5));
        waited_in_vain = told != std::future_status::ready;
        return {};
    };
    {
        const std::jthread one([&] { EXPECT_TRUE(backend_->Share(first)); });
        begun.get_future().wait();
        Probe second(ids_);
        EXPECT_TRUE(backend_->Share(second));
        over.set_value();
    }
    EXPECT_FALSE(waited_in_vain);
}

TEST_F(ShareTest, WhoComesTogetherIsDoneTogether) {
    std::atomic<std::size_t> most = 0;
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 8; ++i) {
            crowd.emplace_back([&] {
                for (int call = 0; call < 50; ++call) {
                    Probe probe(ids_);
                    ASSERT_TRUE(backend_->Share(probe));
                    most = std::max(most.load(), probe.together);
                }
            });
        }
    }
    EXPECT_GT(most, 1U);
}

// A failing call fails no other call.
TEST_F(ShareTest, AFailureIsOfItsCaller) {
    std::vector<std::jthread> crowd;
    std::atomic<int> failed = 0;
    for (int i = 0; i < 8; ++i) {
        crowd.emplace_back([&, i] {
            for (int call = 0; call < 25; ++call) {
                Probe probe(ids_);
                const bool fails = (i + call) % 4 == 0;
                probe.body = [&]() -> Result<void> {
                    if (fails) return Error(Code::kNotFound, "does not want to");
                    return {};
                };
                const auto done = backend_->Share(probe);
                EXPECT_EQ(done.has_value(), !fails);
                if (!done) ++failed;
            }
        });
    }
    crowd.clear();
    EXPECT_EQ(failed, 50);
}

}  // namespace
}  // namespace ksana::store_postgres

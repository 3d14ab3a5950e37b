#include "ksana/engine/retention/retention.hpp"

#include <gtest/gtest.h>

#include "engine/service_fixture.hpp"

namespace ksana::engine {
namespace {

using model::EventKind;
using std::chrono::minutes;

class HistoryTrimTest : public ServiceFixture {
  protected:
    // Finishes `count` runs, one after the other.
    void Finish(int count, std::size_t payload = 0) {
        for (int i = 0; i < count; ++i) {
            clock_.Advance(minutes(1));
            model::Run run;
            run.type = "t";
            run.payload = "\"" + std::string(payload, 'x') + "\"";
            const auto made =
                store_->runs().Submit({.now = {}, .runs = {run}, .start = {}, .audit = {}});
            ASSERT_TRUE(made);
            const auto claimed = store_->runs().Claim({.filter = {}, .owner = "o", .limit = 1});
            ASSERT_EQ(claimed->runs.size(), 1U);
            model::Event end;
            end.kind = i % 2 == 0 ? EventKind::kPermanentFailure : EventKind::kSuccess;
            end.exec_id = claimed->runs[0].status.exec_id;
            ASSERT_TRUE(store_->runs().Apply({{.run_id = claimed->runs[0].id, .event = end}}));
            ids_made_.push_back(claimed->runs[0].id);
        }
        clock_.Advance(minutes(1));
    }

    bool IsThere(std::size_t number) {
        return store_->runs().Get(ids_made_.at(number)).has_value();
    }
    std::int64_t Count() { return *store_->runs().Count({}, 1'000'000); }

    // Runs retention until nothing is left to delete, at most `batches` steps. Returns the number
    // of deleted runs.
    std::size_t Drain(Retention& retention, int batches = 100) {
        std::size_t runs = 0;
        for (int i = 0; i < batches; ++i) {
            const auto answer = retention.RunOnce();
            EXPECT_TRUE(answer);
            runs += answer->runs;
            if (answer->runs == 0) break;
        }
        return runs;
    }

    std::vector<Uuid> ids_made_;
};

TEST_F(HistoryTrimTest, KeepsSoManyAndDeletesTheOldestInBatches) {
    Retention retention(*store_, locks_, clock_,
                        {.keep = Duration::zero(), .max_runs = 7, .batch = 4});
    Finish(20);
    model::Run waits;
    waits.type = "t";
    ASSERT_TRUE(store_->runs().Submit({.now = {}, .runs = {waits}, .start = {}, .audit = {}}));
    EXPECT_EQ(retention.RunOnce()->runs, 4U);
    EXPECT_EQ(Drain(retention), 9U);
    EXPECT_EQ(Count(), 8) << "and the one that waits";
    EXPECT_FALSE(IsThere(12));
    for (std::size_t i = 13; i < 20; ++i) EXPECT_TRUE(IsThere(i)) << i;
    Finish(2);
    EXPECT_EQ(Drain(retention), 2U);
}

TEST_F(HistoryTrimTest, KeepsSoManyBytes) {
    constexpr std::int64_t kMost = 300'000;
    Retention retention(*store_, locks_, clock_, {.keep = Duration::zero(), .max_bytes = kMost});
    Finish(50, 10'000);
    const std::size_t gone = Drain(retention);
    EXPECT_GT(gone, 15U);
    EXPECT_LT(gone, 30U);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(IsThere(i), i >= gone) << i;
        if (i >= gone) bytes += SizeOfRun(store_->runs().Get(ids_made_[i])->run);
    }
    EXPECT_LE(bytes, kMost);
}

// A few old, large runs must not cause the deletion of all new, small ones.
TEST_F(HistoryTrimTest, TheSizeIsThatOfTheOldest) {
    Retention retention(*store_, locks_, clock_, {.keep = Duration::zero(), .max_bytes = 500'000});
    Finish(10, 100'000);
    Finish(90, 100);
    const std::size_t gone = Drain(retention);
    EXPECT_GE(gone, 6U);
    EXPECT_LE(gone, 10U);
}

TEST_F(HistoryTrimTest, WithoutABoundNothingIsLookedAt) {
    Retention retention(*store_, locks_, clock_, {.keep = Duration::zero()});
    Finish(10);
    EXPECT_EQ(Drain(retention), 0U);
    EXPECT_TRUE(store_->locks().List({})->items.empty());
}

// Two nodes that see the same excess delete it once.
TEST_F(HistoryTrimTest, OneOfTheNodesTrims) {
    const auto options = [](const char* owner) {
        return Retention::Options{
            .keep = Duration::zero(), .max_runs = 10, .owner = owner, .batch = 2};
    };
    Retention a(*store_, locks_, clock_, options("a"));
    Retention b(*store_, locks_, clock_, options("b"));
    Finish(20);
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(a.RunOnce());
        ASSERT_TRUE(b.RunOnce());
    }
    EXPECT_EQ(Count(), 10);
    Finish(5);
    clock_.Advance(minutes(10));
    EXPECT_EQ(Drain(b), 5U) << "the other is silent";
}

}  // namespace
}  // namespace ksana::engine

#include "ksana/engine/retention/retention.hpp"

#include <gtest/gtest.h>

#include "engine/service_fixture.hpp"

namespace ksana::engine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kBatch = 10;

class RetentionTest : public ServiceFixture {
  protected:
    // Stores tasks that ended just now.
    void End(std::size_t count) {
        std::vector<model::Record> runs;
        for (std::size_t n = 0; n < count; ++n) {
            model::Run run;
            run.id = ids_.Next();
            run.type = "mail";
            run.status.state = model::RunState::kSucceeded;
            run.status.finished_at = clock_.Now();
            runs.emplace_back(std::move(run));
        }
        ASSERT_TRUE(store_->records().Add(runs));
    }

    Retention Keeping(Duration keep) {
        return {*store_, locks_, clock_, {.keep = keep, .keep_events = {}, .batch = kBatch}};
    }
};

TEST_F(RetentionTest, RestsNoLongerThanRunsAreKept) {
    Retention month = Keeping(hours(720));
    EXPECT_EQ(month.RunOnce()->step.within, minutes(1));
    Retention second = Keeping(seconds(1));
    End(1);
    EXPECT_EQ(second.RunOnce()->step.within, seconds(1));
    clock_.Advance(seconds(2));
    EXPECT_EQ(second.RunOnce()->runs, 1U);
    Retention for_ever = Keeping({});
    EXPECT_EQ(for_ever.RunOnce()->step.within, minutes(1));
}

TEST_F(RetentionTest, DeletesFasterAndFasterWhileItDoesNotKeepUp) {
    Retention retention = Keeping(seconds(1));
    End(401 * kBatch);
    clock_.Advance(seconds(2));
    Duration waited{};
    Duration last = milliseconds(50);
    for (std::size_t n = 0; n < 401; ++n) {
        const auto answer = retention.RunOnce();
        ASSERT_EQ(answer->runs, kBatch);
        ASSERT_LE(*answer->step.within, last) << n;
        last = *answer->step.within;
        waited += last;
        clock_.Advance(last);
    }
    EXPECT_LT(last, milliseconds(5));
    EXPECT_GT(last, Duration::zero()) << "others have their turn";
    EXPECT_LT(waited, seconds(10));
    EXPECT_EQ(retention.RunOnce()->step.within, seconds(1));
    End(kBatch);
    clock_.Advance(seconds(2));
    EXPECT_EQ(retention.RunOnce()->step.within, milliseconds(50)) << "it has kept up";
}

}  // namespace
}  // namespace ksana::engine

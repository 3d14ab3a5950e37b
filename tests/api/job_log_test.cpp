#include "ksana/api/admin/job_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::api {
namespace {

using model::RunTrigger;

// A log over SQLite, whose queries end early, unlike those of the memory store.
class JobLogTest : public ::testing::Test {
  protected:
    // Stores runs and lets them succeed, one after the other.
    void Add(std::size_t count, RunTrigger trigger) {
        std::vector<model::Run> runs(count);
        for (model::Run& run : runs) {
            run.type = "t";
            run.trigger = trigger;
            run.job_id = trigger == RunTrigger::kSubmitted ? "" : "j";
        }
        ASSERT_TRUE(store_->runs().Submit({.now = {}, .runs = std::move(runs), .start = {}}));
        const auto claimed = store_->runs().Claim({.filter = {}, .owner = "o", .limit = count});
        ASSERT_EQ(claimed->runs.size(), count);
        for (const model::Run& run : claimed->runs) {
            model::Event event;
            event.kind = model::EventKind::kSuccess;
            event.exec_id = run.status.exec_id;
            clock_.Advance(std::chrono::milliseconds(1));
            ASSERT_TRUE(store_->runs().Apply({{.run_id = run.id, .event = std::move(event)}}));
            if (!run.job_id.empty()) of_jobs_.insert(of_jobs_.begin(), run.id);
        }
    }
    static std::vector<Uuid> IdsOf(const LogPage& page) {
        std::vector<Uuid> ids;
        for (const model::Run& run : page.runs) ids.push_back(run.id);
        return ids;
    }
    std::unique_ptr<store::Store> Open() {
        auto backend = store_sqlite::OpenSqlite({.path = folder_.File("log.db"),
                                                 .clock = clock_,
                                                 .durability = store_sqlite::Durability::kNormal});
        return store_kit::MakeStore(*std::move(backend), ids_);
    }

    test::TemporaryFolder folder_;
    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ = Open();
    engine::RunService runs_{*store_, ids_};
    std::vector<Uuid> of_jobs_;  // the newest first
};

// N-19: a list of a rare trigger ends early again and again; the merged order stays right.
TEST_F(JobLogTest, PagesAreCompleteWhereListsEndEarly) {
    for (int round = 0; round < 4; ++round) {
        Add(9, RunTrigger::kFire);
        Add(40, RunTrigger::kSubmitted);
        Add(1, RunTrigger::kManual);
    }
    const JobLog log(*store_, runs_, {.examined = 8, .cut_pages = 100});
    std::vector<Uuid> seen;
    for (std::size_t page = 1; page <= 6; ++page) {
        const auto found = log.Read({.page = page, .size = 7});
        ASSERT_TRUE(found) << found.error().Describe();
        std::ranges::copy(IdsOf(*found), std::back_inserter(seen));
        EXPECT_EQ(found->exact, page == 6) << "the counts ended early, too";
        EXPECT_GE(found->total, static_cast<std::int64_t>(std::min(page * 7, of_jobs_.size())));
    }
    EXPECT_EQ(seen, of_jobs_);
}

TEST_F(JobLogTest, APageBehindTooManyOtherRunsIsRefused) {
    Add(3, RunTrigger::kManual);
    Add(60, RunTrigger::kSubmitted);
    Add(3, RunTrigger::kFire);
    const LogBounds few{.examined = 8, .cut_pages = 2};
    const auto newest = JobLog(*store_, runs_, few).Read({.page = 1, .size = 3});
    ASSERT_TRUE(newest) << "no list needs to be read to its end: " << newest.error().Describe();
    EXPECT_EQ(IdsOf(*newest), std::vector(of_jobs_.begin(), of_jobs_.begin() + 3));
    const auto hidden = JobLog(*store_, runs_, few).Read({.page = 1, .size = 4});
    ASSERT_FALSE(hidden);
    EXPECT_EQ(hidden.error().code, Code::kInvalidArgument);
    EXPECT_EQ(hidden.error().problems.at(0).path, "/query/page");
    const auto of_job = JobLog(*store_, runs_, few).Read({.page = 1, .size = 6, .job_id = "j"});
    ASSERT_TRUE(of_job) << of_job.error().Describe();
    EXPECT_EQ(IdsOf(*of_job), of_jobs_);
    EXPECT_EQ(JobLog(*store_, runs_, few).Clean({}, {})->runs, 6) << "looks at every run";
}

}  // namespace
}  // namespace ksana::api

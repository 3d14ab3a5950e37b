#include "ksana/store_sqlite/rows/packed_job.hpp"

#include <gtest/gtest.h>

#include "ksana/store_kit/driver/job_definition.hpp"
#include "support/fill.hpp"

namespace ksana::store_sqlite {
namespace {

using model::Job;

// Returns the job without its bookkeeping, which is stored in columns.
Job DefinitionOf(Job job) {
    const Job plain;
    job.state.version = plain.state.version;
    job.state.created_at = plain.state.created_at;
    job.state.updated_at = plain.state.updated_at;
    job.state.planned_until.reset();
    job.state.next_run_at.reset();
    job.state.last_run_at.reset();
    job.state.last_error.clear();
    job.state.last_state.reset();
    job.state.consecutive_failures = 0;
    job.state.total_runs = 0;
    job.state.dependants = 0;
    return job;
}

Result<Job> Unpacked(std::string_view packed) {
    Job job;
    KSANA_TRY_VOID(UnpackJob(packed, job));
    return job;
}

Job RandomJob(Random& random) {
    Job job;
    ksana::testing::Filler(random, true).Fill(job);
    return DefinitionOf(std::move(job));
}

TEST(PackedJobTest, EveryFieldComesBack) {
    SeededRandom random(7);
    for (int i = 0; i < 2'000; ++i) {
        const Job job = RandomJob(random);
        const auto back = Unpacked(PackJob(job));
        ASSERT_TRUE(back) << i << ": " << back.error().Describe();
        ASSERT_EQ(*back, job) << i;
    }
}

TEST(PackedJobTest, ASingleFieldComesBack) {
    SeededRandom random(8);
    for (const Job& changed : ksana::testing::Filler(random).EachMemberChanged<Job>()) {
        const Job job = DefinitionOf(changed);
        const auto back = Unpacked(PackJob(job));
        ASSERT_TRUE(back) << back.error().Describe();
        EXPECT_EQ(*back, job);
    }
}

// Rows from before jobs were packed.
TEST(PackedJobTest, JsonIsRead) {
    Job job;
    job.id = "j";
    job.name = "{";
    job.action = model::HttpAction{.url = "http://127.0.0.1:9/"};
    const auto back = Unpacked(store_kit::DefinitionText(job));
    ASSERT_TRUE(back) << back.error().Describe();
    EXPECT_EQ(*back, job);
}

// A blob that is cut short, has an extra byte or a flipped bit gives an error or another job, and
// nothing worse.
TEST(PackedJobTest, DamageIsNotReadAsMoreThanItIs) {
    SeededRandom random(9);
    for (int i = 0; i < 200; ++i) {
        const std::string whole = PackJob(RandomJob(random));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const auto cut = Unpacked(std::string_view(whole).substr(0, size));
            ASSERT_FALSE(cut);
            EXPECT_EQ(cut.error().code, Code::kDataLoss);
        }
        EXPECT_FALSE(Unpacked(whole + "x"));
        std::string turned = whole;
        turned.at(random.Below(turned.size())) ^= static_cast<char>(1U << random.Below(8));
        const auto read = Unpacked(turned);
        EXPECT_TRUE(read || read.error().code == Code::kDataLoss);
    }
}

}  // namespace
}  // namespace ksana::store_sqlite

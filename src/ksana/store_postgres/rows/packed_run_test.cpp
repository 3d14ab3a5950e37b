#include "ksana/store_postgres/rows/packed_run.hpp"

#include <gtest/gtest.h>

namespace ksana::store_postgres {
namespace {

TimePoint At(std::int64_t micros) { return TimePoint(Duration(micros)); }

model::RunStatus FullStatus() {
    model::RunStatus status;
    status.failures = -7;
    status.fence = INT64_MIN;
    status.exec_id = "e";
    status.last_report = model::EventKind::kUnblock;
    status.outcome = model::AttemptOutcome::kSucceeded;
    status.lease_until = At(INT64_MAX);
    status.deadline = At(0);
    status.started_at = At(-1);
    status.ended_at = At(1);
    status.progress = 100;
    status.progress_note = std::string("\0\xff", 2);
    status.cancel_requested = true;
    status.not_stopping = true;
    status.result = std::string(300, 'r');
    status.detail = "{}";
    status.remark = "r";
    status.skip_reason = model::SkipReason::kDependency;
    return status;
}

TEST(PackedRunTest, NothingIsPackedAsNothing) {
    std::string packed;
    PackStatus({}, packed);
    PackFixed({}, packed);
    EXPECT_EQ(packed, "");
    model::RunStatus status = FullStatus();
    ASSERT_TRUE(UnpackStatus("", status));
    EXPECT_EQ(status, model::RunStatus());
}

TEST(PackedRunTest, EveryFieldComesBack) {
    std::string packed;
    PackStatus(FullStatus(), packed);
    model::RunStatus status;
    ASSERT_TRUE(UnpackStatus(packed, status));
    EXPECT_EQ(status, FullStatus());

    model::Run run;
    run.priority = 0;
    run.unique.states = model::kAllStates;
    run.unique.until = At(-5);
    packed.clear();
    PackFixed(run, packed);
    model::Run read;
    ASSERT_TRUE(UnpackFixed(packed, read));
    EXPECT_EQ(read, run);
}

TEST(PackedRunTest, DamageIsNoticed) {
    std::string packed;
    PackStatus(FullStatus(), packed);
    model::RunStatus status;
    for (std::size_t size = 1; size < packed.size(); ++size) {
        EXPECT_FALSE(UnpackStatus(std::string_view(packed).substr(0, size), status)) << size;
    }
    EXPECT_FALSE(UnpackStatus(packed + "x", status));
    std::string later = packed;
    later[3] = static_cast<char>(0x80);  // an unknown field
    const auto read = UnpackStatus(later, status);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace ksana::store_postgres

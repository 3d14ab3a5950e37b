#include "ksana/model/worker.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

using std::chrono::seconds;

TEST(WorkerState, FollowsHeartbeats) {
    Worker worker;
    const TimePoint now = worker.last_heartbeat_at;
    EXPECT_EQ(StateOf(worker, now + seconds(90)), WorkerState::kAlive);
    EXPECT_EQ(StateOf(worker, now + seconds(91)), WorkerState::kDown);
    worker.draining = true;
    EXPECT_EQ(StateOf(worker, now), WorkerState::kDraining);
    worker.deregistered = true;
    EXPECT_EQ(StateOf(worker, now), WorkerState::kGone);
}

}  // namespace
}  // namespace ksana::model

#include "ksana/model/node.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// K-24
TEST(NodeTest, StateFollowsHeartbeatsAndFlags) {
    const TimePoint start = TimePoint(hours(1000));
    ServerNode node{.name = "a", .incarnation = "1", .lease = seconds(15), .heartbeat_at = start};
    EXPECT_EQ(OwnerOf(node), "a/1");
    EXPECT_EQ(StateOf(node, start + seconds(15)), NodeState::kAlive);
    EXPECT_EQ(StateOf(node, start + seconds(16)), NodeState::kDown);
    node.stopping = true;
    EXPECT_EQ(StateOf(node, start), NodeState::kStopping);
    EXPECT_EQ(StateOf(node, start + seconds(16)), NodeState::kDown);
    node.down = true;
    EXPECT_EQ(StateOf(node, start), NodeState::kDown);
    node.gone = true;
    EXPECT_EQ(StateOf(node, start), NodeState::kGone);
}

TEST(NodeTest, OnlySilentNodesAreForgottenAndOnlyAfterADay) {
    const TimePoint start = TimePoint(hours(1000));
    ServerNode node{.name = "a", .lease = seconds(15), .heartbeat_at = start};
    EXPECT_FALSE(IsForgettable(node, start));
    EXPECT_FALSE(IsForgettable(node, start + hours(24)));
    EXPECT_TRUE(IsForgettable(node, start + hours(25)));
    node.gone = true;
    EXPECT_FALSE(IsForgettable(node, start + hours(24)));
    EXPECT_TRUE(IsForgettable(node, start + hours(25)));
    node.lease = hours(48);
    node.gone = false;
    EXPECT_FALSE(IsForgettable(node, start + hours(25))) << "it is alive";
}

}  // namespace
}  // namespace ksana::model

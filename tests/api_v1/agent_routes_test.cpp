#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

namespace ksana::api {
namespace {

// How polls are answered over HTTP; which poll gets which run is tested in
// tests/engine/agent_polls_test.cpp.
class AgentRoutesTest : public V1Fixture {
  protected:
    static constexpr const char* kWaits = R"({"worker":"w","types":["t"],"wait":"30s"})";
    static constexpr const char* kDoesNotWait = R"({"worker":"w","types":["t"]})";

    std::string Submit() { return TextOf(Post("/runs", R"({"type":"t"})"), "id"); }
    Response Exchange(const std::string& members) {
        return Post("/agent/exchange", R"({"worker":"w",)" + members + "}");
    }
    // As many polls as there is room for.
    void Fill() {
        for (int i = 0; i < 2; ++i) EXPECT_EQ(Post("/agent/claim", kWaits).status, 0);
    }
};

TEST_F(AgentRoutesTest, AClaimIsAnsweredWithRunsOrWithNothing) {
    EXPECT_EQ(Post("/agent/claim", kDoesNotWait).status, 204);
    const std::string id = Submit();
    const Response claimed = Post("/agent/claim", kDoesNotWait);
    EXPECT_EQ(claimed.status, 200);
    EXPECT_EQ(TextOf(claimed, "run_id"), id);
}

TEST_F(AgentRoutesTest, WithoutRoomAClaimIsRefused) {
    Fill();
    const Response refused = Post("/agent/claim", kWaits);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(HeaderOf(refused, "Retry-After"), "1");
}

TEST_F(AgentRoutesTest, WithoutRoomAnExchangeIsAnsweredAsItsReportsAreStored) {
    const std::string id = Submit();
    const Response claimed = Post("/agent/claim", kDoesNotWait);
    Fill();
    const Response exchanged = Exchange(
        fmt::format(R"("reports":[{{"run_id":"{}","exec_id":"{}","outcome":"succeeded"}}],)"
                    R"("claim":{{"types":["other"],"wait":"30s"}})",
                    id, TextOf(claimed, "exec_id")));
    EXPECT_EQ(exchanged.status, 200) << exchanged.body;
    EXPECT_TRUE(Has(exchanged, R"("runs":[])")) << exchanged.body;
    EXPECT_EQ(store_->runs().Get(*Uuid::Parse(id))->run.status.state, model::RunState::kSucceeded);
}

TEST_F(AgentRoutesTest, AStopAnswersPollsWithNothing) {
    agent_polls_.Drain();
    EXPECT_EQ(Post("/agent/claim", kWaits).status, 204);
    EXPECT_EQ(Exchange(R"("reports":[],"claim":{"types":["t"],"wait":"30s"})").body,
              R"({"reports":[],"runs":[]})");
}

}  // namespace
}  // namespace ksana::api

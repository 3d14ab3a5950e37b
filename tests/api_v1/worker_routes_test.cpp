#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

namespace ksana::api {
namespace {

// Requests and answers of /workers; what becomes of runs is tested in tests/engine and
// tests/server.
class WorkerRoutesTest : public V1Fixture {
  protected:
    static constexpr const char* kOne = "0192f0c1-7d7b-7c3e-9d1a-1f2e3d4c5b6a";
    static constexpr const char* kTwo = "0192f0c1-7d7b-7c3e-9d1a-1f2e3d4c5b6b";

    Response Register(const std::string& name, const std::string& incarnation) {
        return Post("/workers", R"({"name":")" + name + R"(","incarnation":")" + incarnation +
                                    R"(","slots":4,"types":["t"],"kinds":["queue","command"]})");
    }
    Response Beat(const std::string& name, const std::string& incarnation) {
        return Post("/workers/" + name + "/heartbeat",
                    R"({"busy":2,"incarnation":")" + incarnation + R"("})");
    }
};

// D-05
TEST_F(WorkerRoutesTest, RegistersBeatsAndLeaves) {
    const Response made = Register("w", kOne);
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(HeaderOf(made, "Location"), "/api/v1/workers/w");
    EXPECT_EQ(TextOf(made, "state"), "alive");
    const Response beaten = Beat("w", kOne);
    EXPECT_EQ(beaten.status, 200) << beaten.body;
    EXPECT_TRUE(Has(beaten, R"("heartbeat_in":30)")) << beaten.body;
    EXPECT_TRUE(Has(Get("/workers/w"), R"("busy":2)"));
    EXPECT_TRUE(Has(Get("/workers?state=alive"), R"("name":"w")"));
    EXPECT_FALSE(Has(Get("/workers?state=down"), R"("name":"w")"));
    EXPECT_EQ(Get("/workers?state=asleep").status, 400);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/workers/w").status, 400) << "whose?";
    EXPECT_EQ(Do(HttpMethod::kDelete, std::string("/workers/w?incarnation=") + kTwo).status, 409);
    EXPECT_EQ(Do(HttpMethod::kDelete, std::string("/workers/w?incarnation=") + kOne).status, 204);
    EXPECT_EQ(TextOf(Get("/workers/w"), "state"), "gone");
}

// D-18
TEST_F(WorkerRoutesTest, AnotherIncarnationTakesTheName) {
    Register("w", kOne);
    EXPECT_EQ(Register("w", kTwo).status, 201);
    const Response late = Beat("w", kOne);
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(TextOf(late, "code"), "lease_lost");
    EXPECT_EQ(Beat("x", kOne).status, 404);
    EXPECT_EQ(Get("/workers/x").status, 404);
    EXPECT_EQ(Post("/workers/x/drain", "").status, 404);
}

TEST_F(WorkerRoutesTest, EveryFaultIsNamed) {
    const Response wrong =
        Post("/workers", R"({"name":"a b","incarnation":"00000000-0000-0000-0000-000000000000",
                        "slots":0,"kinds":[],"labels":{"worker":"other"}})");
    EXPECT_EQ(wrong.status, 400);
    for (const char* pointer : {"/name", "/incarnation", "/slots", "/kinds", "/labels/worker"}) {
        EXPECT_TRUE(Has(wrong, std::string(R"("pointer":")") + pointer)) << pointer;
    }
    EXPECT_EQ(Post("/workers", R"({"name":"w","incarnation":"x"})").status, 400);
    EXPECT_EQ(Get("/workers/w").status, 404) << "nothing was stored";
}

TEST_F(WorkerRoutesTest, ADrainedWorkerIsTold) {
    Register("w", kOne);
    EXPECT_EQ(TextOf(Post("/workers/w/drain", ""), "state"), "draining");
    EXPECT_TRUE(Has(Beat("w", kOne), R"("directives":["drain"])"));
    Post("/runs", R"({"type":"t"})");
    const Response claimed =
        Post("/agent/claim", std::string(R"({"worker":"w","incarnation":")") + kOne + R"("})");
    EXPECT_EQ(claimed.body, R"({"runs":[],"directives":["drain"]})");
}

}  // namespace
}  // namespace ksana::api

#include "ksana/model/run/attempt_log.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

TEST(AttemptLogTest, LinesGatherInTheDetail) {
    std::string detail = WithLines("", R"("one")");
    EXPECT_EQ(detail, R"({"log":["one"]})");
    detail = WithLines(detail, R"("two, \"quoted\"","three")");
    EXPECT_EQ(detail, R"({"log":["one","two, \"quoted\"","three"]})");
    EXPECT_EQ(WithLines(detail, ""), detail);
    EXPECT_EQ(WithLines("", ""), "");
    EXPECT_EQ(WithLines(R"({"reason":"limit"})", R"("x")"), R"({"log":["x"]})")
        << "what it waited for before is over";
}

TEST(AttemptLogTest, TheOldestLinesGo) {
    const std::string line = '"' + std::string(1'000, 'x') + R"(\")" + '"';
    std::string detail = WithLines("", R"("first")");
    for (int i = 0; i < 100; ++i) detail = WithLines(detail, line);
    EXPECT_LE(detail.size(), kMaxAttemptLog + 20);
    EXPECT_GT(detail.size(), kMaxAttemptLog - 2'000);
    EXPECT_TRUE(detail.starts_with(R"({"log":["xxx)"));
    EXPECT_TRUE(detail.ends_with(R"(xxx\""]})"));
    const std::string huge = '"' + std::string(kMaxAttemptLog, 'y') + '"';
    EXPECT_EQ(WithLines(detail, huge), "") << "more than there is room for";
}

TEST(AttemptLogTest, TheEndKeepsThem) {
    const std::string log = R"({"log":["a"]})";
    EXPECT_EQ(WithLogOf(log, ""), log);
    EXPECT_EQ(WithLogOf(log, "{}"), log);
    EXPECT_EQ(WithLogOf(log, R"({"error":{"message":"m"}})"),
              R"({"log":["a"],"error":{"message":"m"}})");
    EXPECT_EQ(WithLogOf("", R"({"x":1})"), R"({"x":1})");
    EXPECT_EQ(WithLogOf(R"({"reason":"limit"})", R"({"x":1})"), R"({"x":1})");
    EXPECT_EQ(WithLogOf(log, "[1]"), "[1]") << "no object: nothing can stand in it";
}

}  // namespace
}  // namespace ksana::model

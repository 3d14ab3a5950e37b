#include "ksana/base/error/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace ksana {
namespace {

Result<int> Half(int n) {
    if (n % 2 != 0) return Error(Code::kInvalidArgument, "odd");
    return n / 2;
}

Result<int> Quarter(int n) {
    KSANA_TRY(const int half, Half(n));
    return Half(half);
}

Result<void> NeedEven(int n) {
    KSANA_TRY_VOID([n]() -> Result<void> {
        if (n % 2 != 0) return Error(Code::kConflict, "odd");
        return {};
    }());
    return {};
}

TEST(Result, HoldsAValueOrAnError) {
    EXPECT_EQ(Half(4).value(), 2);
    EXPECT_EQ(Half(3).error().message, "odd");
    EXPECT_EQ(Half(3).value_or(7), 7);
}

TEST(Result, TryReturnsTheErrorOfTheFirstFailingStep) {
    EXPECT_EQ(*Quarter(8), 2);
    EXPECT_EQ(Quarter(6).error().message, "odd");
    EXPECT_FALSE(NeedEven(1));
    EXPECT_TRUE(NeedEven(2));
}

TEST(Result, ChainsWithoutCopying) {
    auto made = Result<std::unique_ptr<int>>(std::make_unique<int>(5))
                    .transform([](std::unique_ptr<int> p) { return *p + 1; })
                    .and_then([](int n) { return Half(n); });
    EXPECT_EQ(*made, 3);
}

TEST(ResultDeathTest, AskingForTheWrongSideIsAProgrammerError) {
    EXPECT_DEATH((void)Half(3).value(), "check failed");
    EXPECT_DEATH((void)Half(4).error(), "check failed");
}

TEST(Error, EveryCodeHasOneMeaningOutside) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < kCodeCount; ++i) {
        const CodeInfo& info = Info(static_cast<Code>(i));
        EXPECT_TRUE(names.insert(info.name).second) << info.name;
        EXPECT_GE(info.http_status, 400);
        EXPECT_GE(info.exit_code, 1);
    }
    EXPECT_TRUE(Info(Code::kUnavailable).retryable);
    EXPECT_FALSE(Info(Code::kLeaseLost).retryable);
    EXPECT_EQ(Info(Code::kInvalidArgument).http_status, 400);
}

TEST(Error, DescribesEveryProblem) {
    const Error error(std::vector<Problem>{{"/name", "is missing"}, {"", "is empty"}});
    EXPECT_EQ(error.Describe(),
              "the input has 2 problems\n  /name: is missing\n  (document): is empty");
    EXPECT_EQ(Error(Code::kInternal, "x").WithContext("while y").message, "while y: x");
}

TEST(ErrorTest, TellsAHundredProblemsAndHowManyMore) {
    std::vector<Problem> faults(100, Problem{"/x", "is wrong"});
    EXPECT_EQ(Error(faults).problems.size(), 100U);
    faults.resize(250, Problem{"/x", "is wrong"});
    const Error error(faults, 1000);
    EXPECT_EQ(error.message, "the input has 1250 problems");
    ASSERT_EQ(error.problems.size(), 101U);
    EXPECT_EQ(error.problems.back(), (Problem{"", "and 1150 more problems"}));
}

}  // namespace
}  // namespace ksana

#include "ksana/codec/v1/limit_codec.hpp"

#include <gtest/gtest.h>

#include "ksana/codec/records/wait_cause_codec.hpp"

namespace ksana::codec {
namespace {

TEST(LimitCodec, WhatIsWrittenComesBack) {
    const model::Limit limit{
        .description = "the warehouse",
        .max_concurrency = 2,
        .rate = model::Rate{.count = 100, .per = std::chrono::minutes(1), .burst = 5}};
    EXPECT_EQ(*LimitFromJson(LimitToJson(limit)), limit);
    EXPECT_EQ(*LimitFromJson(LimitToJson({})), model::Limit{});
}

TEST(LimitCodec, NullIsNone) {
    const auto limit = LimitFromJson(R"({"max_concurrency": null, "rate": null})");
    ASSERT_TRUE(limit);
    EXPECT_EQ(*limit, model::Limit{});
}

TEST(LimitCodec, EveryFaultIsNamed) {
    const auto limit = LimitFromJson(
        R"({"max_concurrency": 0, "rate": {"count": 0, "per": "9999h", "burst": -1}})");
    ASSERT_FALSE(limit);
    ASSERT_EQ(limit.error().problems.size(), 4U);
    EXPECT_EQ(limit.error().problems[0].path, "/max_concurrency");
    EXPECT_EQ(limit.error().problems[2].path, "/rate/per");
    EXPECT_FALSE(LimitFromJson(R"({"rate": {"count": 5}})"));
    EXPECT_FALSE(LimitFromJson(R"({"max_concurency": 5})"));
    EXPECT_FALSE(LimitFromJson("[]"));
}

TEST(WaitCauseCodec, IsKnownAmongOtherDetails) {
    const model::WaitCause cause{
        .reason = model::WaitReason::kBreakerOpen, .key = "host:a.com:443", .before = 3};
    EXPECT_EQ(WaitCauseFromDetail(WaitCauseToDetail(cause)), cause);
    EXPECT_FALSE(WaitCauseFromDetail(""));
    EXPECT_FALSE(WaitCauseFromDetail(R"({"status":503,"remote":""})"));
    EXPECT_FALSE(WaitCauseFromDetail(R"({"waits":7})"));
}

}  // namespace
}  // namespace ksana::codec

#include "ksana/codec/dialects/task_metadata.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

using model::RetryStrategy;
using model::RunType;
using std::chrono::minutes;
using std::chrono::seconds;
using Strings = std::vector<std::string>;

Strings Paths(const Result<RunType>& type) {
    Strings paths;
    if (type) return paths;
    for (const Problem& problem : type.error().problems) paths.push_back(problem.path);
    return paths;
}

bool Has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// T-06, T-07, T-11: every member of the document.
TEST(TaskMetadata, IsReadAsTheDocumentWritesIt) {
    const auto type = TaskMetadataFromJson(R"({
        "code": "transcode", "name": "Transcode", "category": "media",
        "config": {"retry_strategy": "sequence", "retry_sequence": [10, 60, 600],
                   "max_error_count": 5, "timeout": 30, "need_manual": true,
                   "callback": {"success": {"url": "http://a.example/ok", "method": "PUT"},
                                "error": {"url": "http://a.example/no"},
                                "security": {"type": "aksk", "ak": "key", "sk": "s3cret"}}}})",
                                           nullptr);
    ASSERT_TRUE(type) << type.error().Describe();
    EXPECT_EQ(type->code, "transcode");
    EXPECT_EQ(type->retry->strategy, RetryStrategy::kSequence);
    EXPECT_EQ(type->retry->sequence, (std::vector<Duration>{seconds(10), minutes(1), minutes(10)}));
    EXPECT_EQ(type->retry->max_retries, 5);
    EXPECT_EQ(type->timeout, minutes(30));
    EXPECT_TRUE(type->need_manual);
    EXPECT_EQ(type->callbacks.success.method, model::CallbackMethod::kPut);
    EXPECT_EQ(type->callbacks.error.method, model::CallbackMethod::kPost);
    EXPECT_EQ(type->callbacks.secret_key, "s3cret");

    const std::string text = TaskMetadataToJson(*type, {});
    EXPECT_FALSE(Has(text, "s3cret"));
    EXPECT_TRUE(Has(text, R"("config":{"retry_strategy":"sequence")")) << text;
    EXPECT_TRUE(Has(text, R"("retry_sequence":[10,60,600],"max_error_count":5,"timeout":30,)"))
        << text;
    EXPECT_EQ(*TaskMetadataFromJson(text, &*type), *type) << "a copy of the answer";
    EXPECT_EQ(Paths(TaskMetadataFromJson(text, nullptr)), Strings{"/config/callback/security/sk"});
}

TEST(TaskMetadata, WithoutAConfigTheServersDefaultsHold) {
    const auto type = TaskMetadataFromJson(R"({"code": "a"})", nullptr);
    ASSERT_TRUE(type);
    EXPECT_FALSE(type->retry);
    EXPECT_FALSE(type->timeout);
    model::PolicyDefaults defaults;
    defaults.timeout = seconds(90);
    EXPECT_TRUE(Has(TaskMetadataToJson(*type, defaults),
                    R"("retry_strategy":"fixed_period","retry_interval":5,"retry_sequence":[],)"
                    R"("max_error_count":3,"timeout":1.5,"need_manual":false,"callback":null)"))
        << TaskMetadataToJson(*type, defaults);
}

// T-07: "retry_strategy = none: 0, else more than 0".
TEST(TaskMetadata, RetriesAreCheckedByTheirStrategy) {
    const auto none = TaskMetadataFromJson(
        R"({"code": "a", "config": {"retry_strategy": "none", "max_error_count": 0}})", nullptr);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->retry->strategy, RetryStrategy::kNone);
    EXPECT_EQ(none->retry->max_retries, 0);
    const auto paths = [](const std::string& config) {
        return Paths(TaskMetadataFromJson(R"({"code": "a", "config": )" + config + "}", nullptr));
    };
    EXPECT_EQ(paths(R"({"retry_strategy": "none", "max_error_count": 2})"),
              Strings{"/config/max_error_count"});
    EXPECT_EQ(paths(R"({"retry_strategy": "fixed_period", "max_error_count": 0})"),
              (Strings{"/config/retry_interval", "/config/max_error_count"}));
    EXPECT_EQ(
        paths(R"({"retry_strategy": "sequence", "retry_sequence": [], "max_error_count": 1})"),
        Strings{"/config/retry_sequence"});
    EXPECT_EQ(paths(R"({"retry_strategy": "sequence", "retry_sequence": [5, 0, "x"],
                        "max_error_count": 1})"),
              (Strings{"/config/retry_sequence/1", "/config/retry_sequence/2"}));
    EXPECT_EQ(paths(R"({"retry_strategy": "sometimes"})"), Strings{"/config/retry_strategy"});
    EXPECT_EQ(paths(R"({"timeout": 0, "need_manual": 1, "tiemout": 1})"),
              (Strings{"/config/timeout", "/config/need_manual", "/config/tiemout"}));
    EXPECT_EQ(paths(R"({"timeout": 1441})"), Strings{"/config/timeout"});
    EXPECT_EQ(paths(R"({"callback": {"success": {"method": "GET"}}})"),
              (Strings{"/config/callback/success/url", "/config/callback/success/method"}));
}

}  // namespace
}  // namespace ksana::codec

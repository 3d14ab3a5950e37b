#include "ksana/codec/v1/type_view.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

using model::RunType;
using Strings = std::vector<std::string>;

RunType Signed() {
    RunType type{.code = "mail", .name = "Mail", .category = "bulk"};
    type.callbacks.success = {.url = "http://a.example/done",
                              .method = model::CallbackMethod::kPut};
    type.callbacks.security = model::CallbackSecurity::kAkSk;
    type.callbacks.access_key = "ak";
    type.callbacks.secret_key = "s3cret";
    return type;
}

Strings Paths(const Result<RunType>& type) {
    Strings paths;
    if (type) return paths;
    for (const Problem& problem : type.error().problems) paths.push_back(problem.path);
    return paths;
}

// T-11: a secret is accepted and never shown.
TEST(TypeView, SecretsAreMasked) {
    RunType type = Signed();
    type.callbacks.previous_secret_key = "0lder";
    const std::string text = RunTypeViewToJson(type);
    EXPECT_EQ(text.find("s3cret"), std::string::npos);
    EXPECT_EQ(text.find("0lder"), std::string::npos);
    EXPECT_NE(text.find(R"("secret_key":"***")"), std::string::npos) << text;
    EXPECT_NE(text.find(R"("access_key":"ak")"), std::string::npos) << text;
}

TEST(TypeView, ACopyOfAnAnswerKeepsWhatIsMasked) {
    const RunType type = Signed();
    EXPECT_EQ(*RunTypeFromView(RunTypeViewToJson(type), &type), type);
    EXPECT_EQ(Paths(RunTypeFromView(RunTypeViewToJson(type), nullptr)),
              Strings{"/callbacks/secret_key"});
}

TEST(TypeView, APatchChangesWhatItNames) {
    const RunType type = Signed();
    const auto patched = PatchedRunType(
        type, R"({"category": null, "timeout": "5m", "callbacks": {"secret_key": "n3w",
                  "previous_secret_key": "s3cret", "error": {"url": "http://a.example/no"}}})");
    ASSERT_TRUE(patched) << patched.error().Describe();
    EXPECT_EQ(patched->category, "");
    EXPECT_EQ(patched->timeout, std::chrono::minutes(5));
    EXPECT_EQ(patched->callbacks.secret_key, "n3w");
    EXPECT_EQ(patched->callbacks.previous_secret_key, "s3cret");
    EXPECT_EQ(patched->callbacks.success, type.callbacks.success);
    EXPECT_EQ(patched->callbacks.error.url, "http://a.example/no");
    EXPECT_EQ(patched->callbacks.access_key, "ak");
    EXPECT_EQ(ChangedMembers(type, *patched), (Strings{"category", "timeout", "callbacks"}));
    EXPECT_EQ(PatchedRunType(type, R"({"callbacks": {"success": null}})")->callbacks.success,
              model::Callback{});
}

TEST(TypeView, EveryFaultIsNamed) {
    EXPECT_EQ(Paths(RunTypeFromView(R"({"code": "a", "catgory": "x", "need_manual": "yes",
                                        "callbacks": {"success": {"method": "GET"}}})",
                                    nullptr)),
              (Strings{"/need_manual", "/callbacks/success/url", "/callbacks/success/method",
                       "/catgory"}));
    EXPECT_EQ(Paths(PatchedRunType(Signed(), "[]")), Strings{""});
}

}  // namespace
}  // namespace ksana::codec

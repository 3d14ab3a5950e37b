#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

// T-06: types of runs.

namespace ksana::api {
namespace {

using api::HeaderOf;

constexpr const char* kSigned = R"({"code": "mail", "name": "Mail", "category": "bulk",
    "retry": {"strategy": "sequence", "max_retries": 2, "sequence": ["1s", "1m"]}, "timeout": "5m",
    "callbacks": {"success": {"url": "http://a.example/ok", "method": "PUT"},
                  "security": "aksk", "access_key": "ak", "secret_key": "s3cret"}})";

class V1TypesTest : public V1Fixture {
  protected:
    std::string SecretOf(const std::string& code) {
        return store_->types().Get(code)->value.callbacks.secret_key;
    }
};

TEST_F(V1TypesTest, ATypeLivesAndGoes) {
    const Response made = Post("/types", kSigned);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(HeaderOf(made, "Location"), "/api/v1/types/mail");
    EXPECT_EQ(Post("/types", kSigned).status, 409) << "the code is unique";
    const Response shown = Get("/types/mail");
    EXPECT_EQ(shown.body, made.body);
    const std::string tag = HeaderOf(shown, "ETag");
    EXPECT_EQ(Get("/types/mail", {{"If-None-Match", tag}}).status, 304);
    const Response patched =
        Do(HttpMethod::kPatch, "/types/mail", R"({"timeout": "10m"})", {{"If-Match", tag}});
    EXPECT_EQ(patched.status, 200) << patched.body;
    EXPECT_TRUE(Has(patched, R"("timeout":"10m")")) << patched.body;
    EXPECT_TRUE(Has(patched, R"("category":"bulk")"));
    EXPECT_EQ(Do(HttpMethod::kPatch, "/types/mail", "{}", {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/types/mail", "", {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/types/mail").status, 204);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/types/mail").status, 404);
    EXPECT_EQ(Do(HttpMethod::kPatch, "/types/mail", "{}").status, 404);
    EXPECT_EQ(Get("/types/mail").status, 404);
    EXPECT_EQ(Get("/types/a%20b").status, 404);
}

TEST_F(V1TypesTest, APutMakesOrReplaces) {
    EXPECT_EQ(Do(HttpMethod::kPut, "/types/a", R"({"name": "A"})", {{"If-Match", "\"1\""}}).status,
              412);
    EXPECT_EQ(Do(HttpMethod::kPut, "/types/a", R"({"name": "A"})").status, 201);
    EXPECT_EQ(Do(HttpMethod::kPut, "/types/a", R"({"name": "B"})", {{"If-None-Match", "*"}}).status,
              412);
    EXPECT_EQ(Do(HttpMethod::kPut, "/types/a", R"({"name": "B"})").status, 200);
    EXPECT_TRUE(Has(Get("/types/a"), R"("name":"B")"));
    const Response other = Do(HttpMethod::kPut, "/types/a", R"({"code": "b"})");
    EXPECT_EQ(other.status, 400);
    EXPECT_TRUE(Has(other, R"("/code")")) << other.body;
}

// T-11
TEST_F(V1TypesTest, ASecretIsWrittenAndNeverShown) {
    ASSERT_EQ(Post("/types", kSigned).status, 201);
    const Response shown = Get("/types/mail");
    EXPECT_FALSE(Has(shown, "s3cret"));
    EXPECT_FALSE(Has(Get("/types"), "s3cret"));
    EXPECT_EQ(Do(HttpMethod::kPut, "/types/mail", shown.body).status, 200)
        << "a copy of the answer";
    EXPECT_EQ(SecretOf("mail"), "s3cret");
    const Response rotated =
        Do(HttpMethod::kPatch, "/types/mail",
           R"({"callbacks": {"secret_key": "n3w", "previous_secret_key": "s3cret"}})");
    EXPECT_EQ(rotated.status, 200) << rotated.body;
    EXPECT_EQ(SecretOf("mail"), "n3w");
    EXPECT_FALSE(Has(Get("/audit"), "s3cret"));
    const Response masked = Post("/types", R"({"code": "x", "callbacks": {"security": "aksk",
        "access_key": "a", "secret_key": "***"}})");
    EXPECT_EQ(masked.status, 400);
    EXPECT_TRUE(Has(masked, "/callbacks/secret_key"));
}

TEST_F(V1TypesTest, EveryFaultIsNamedAndNothingIsChanged) {
    const Response refused = Post("/types", R"({"code": "a b", "timeout": "9999h",
        "retry": {"strategy": "sometimes"}, "callbacks": {"success": {"url": "ftp://x"}}})");
    EXPECT_EQ(refused.status, 400);
    EXPECT_TRUE(Has(refused, "/retry/strategy")) << refused.body;
    EXPECT_TRUE(Has(Post("/types", R"({"code": "a", "catgory": "x"})"), "category"));
    const Response checked = Post("/types", R"({"code": "a b", "timeout": "9999h",
        "callbacks": {"success": {"url": "ftp://x"}, "security": "aksk"}})");
    for (const char* path : {"/code", "/timeout", "/callbacks/success/url", "/callbacks/access_key",
                             "/callbacks/secret_key"}) {
        EXPECT_TRUE(Has(checked, path)) << path << checked.body;
    }
    EXPECT_TRUE(Has(Get("/types"), R"("items":[])"));
}

// G-11
TEST_F(V1TypesTest, WhoDidWhatIsKept) {
    ASSERT_EQ(Post("/types", kSigned).status, 201);
    ASSERT_EQ(Do(HttpMethod::kPatch, "/types/mail", R"({"name": "E-mail"})").status, 200);
    ASSERT_EQ(Do(HttpMethod::kDelete, "/types/mail").status, 204);
    const Response audit = Get("/audit?resource_type=type&resource_id=mail");
    for (const char* part : {R"("action":"created")", R"("action":"changed")",
                             R"("changed":["name"])", R"("action":"deleted")", R"("user":"me")"}) {
        EXPECT_TRUE(Has(audit, part)) << part << audit.body;
    }
}

TEST_F(V1TypesTest, AreListedByCodeAndKnownAtOnce) {
    for (const char* code : {"b", "a.2", "a.1"}) {
        ASSERT_EQ(Do(HttpMethod::kPut, fmt::format("/types/{}", code), "{}").status, 201);
        EXPECT_TRUE(type_book_.Find(code)) << "the node plans by it when the answer is there";
    }
    const Response page = Get("/types?prefix=a&limit=1");
    EXPECT_TRUE(Has(page, R"("code":"a.1")"));
    EXPECT_FALSE(Has(page, R"("code":"a.2")"));
    EXPECT_EQ(Get("/types?prefix=a&limit=1&cursor=" + TextOf(page, "next_cursor")).status, 200);
    EXPECT_EQ(Get("/types?nope=1").status, 400);
}

}  // namespace
}  // namespace ksana::api

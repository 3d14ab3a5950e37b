#include "ksana/http_server/routing/router.hpp"

#include <gtest/gtest.h>

#include "ksana/http_server/routing/dispatch.hpp"

namespace ksana::http_server {
namespace {

Route Named(HttpMethod method, std::string pattern, Permission permission = Permission::kPublic) {
    std::string name = pattern;
    return {method,         std::move(pattern),
            permission,     "Tells its pattern.",
            Where::kInline, [name](const Request&) { return TextResponse(200, name); }};
}

std::string PatternOf(const Router& router, HttpMethod method, std::vector<std::string> segments) {
    const Router::Match match = router.Find(method, segments);
    return match.route != nullptr ? match.route->pattern() : "(" + match.allow + ")";
}

TEST(RouterTest, FieldsOfAllAnswersUnderAPath) {
    Router router;
    EXPECT_TRUE(router.HeadersUnder("/api/v1").empty());
    router.AddHeaderUnder("/api/v1", "Version", "1");
    const TextPairs fields = {{"Version", "1"}};
    EXPECT_EQ(router.HeadersUnder("/api/v1"), fields);
    EXPECT_EQ(router.HeadersUnder("/api/v1/jobs"), fields);
    EXPECT_TRUE(router.HeadersUnder("/api/v10/jobs").empty());
    EXPECT_TRUE(router.HeadersUnder("/jobs").empty());
    EXPECT_TRUE(router.HeadersUnder("").empty());
}

TEST(RouterTest, FindsRoutesByPathAndMethod) {
    Router router;
    router.Add(Named(HttpMethod::kGet, "/"))
        .Add(Named(HttpMethod::kGet, "/jobs"))
        .Add(Named(HttpMethod::kPost, "/jobs"))
        .Add(Named(HttpMethod::kGet, "/jobs/{id}"))
        .Add(Named(HttpMethod::kGet, "/jobs/summary"))
        .Add(Named(HttpMethod::kPost, "/jobs/{job}/run-now"))
        .Add(Named(HttpMethod::kGet, "/ui/{file...}"));
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {}), "/");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"jobs"}), "/jobs");
    EXPECT_EQ(PatternOf(router, HttpMethod::kHead, {"jobs"}), "/jobs");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"jobs", "7"}), "/jobs/{id}");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"jobs", "summary"}), "/jobs/summary");
    // No route continues after the literal "summary", so it matches the parameter.
    EXPECT_EQ(PatternOf(router, HttpMethod::kPost, {"jobs", "summary", "run-now"}),
              "/jobs/{job}/run-now");
    EXPECT_EQ(PatternOf(router, HttpMethod::kPut, {"jobs"}), "(GET, HEAD, POST, OPTIONS)");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"jobs", "7", "run-now"}), "(POST, OPTIONS)");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"Jobs"}), "()");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"jobs", ""}), "()");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"jobs", "7", ""}), "()");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"ui", "a", "b.js"}), "/ui/{file...}");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"ui", "a", ""}), "()");
    EXPECT_EQ(PatternOf(router, HttpMethod::kGet, {"ui"}), "()");
    EXPECT_EQ(router.routes().size(), 7U);
    EXPECT_EQ(router.routes().at(5)->description(), "Tells its pattern.");
}

TEST(RouterTest, ParametersHaveTheNamesOfTheirRoute) {
    Router router;
    router.Add(Named(HttpMethod::kGet, "/jobs/{id}"))
        .Add(Named(HttpMethod::kDelete, "/jobs/{job}"))
        .Add(Named(HttpMethod::kGet, "/jobs/{id}/runs/{run}"))
        .Add(Named(HttpMethod::kGet, "/ui/{file...}"));
    EXPECT_EQ(router.Find(HttpMethod::kDelete, {"jobs", "7"}).parameters,
              (TextPairs{{"job", "7"}}));
    EXPECT_EQ(router.Find(HttpMethod::kGet, {"jobs", "7", "runs", "9"}).parameters,
              (TextPairs{{"id", "7"}, {"run", "9"}}));
    EXPECT_EQ(router.Find(HttpMethod::kGet, {"ui", "a", "b"}).parameters,
              (TextPairs{{"file", "a/b"}}));
}

TEST(RouterTest, RoutesAreCheckedWhenTheyAreAdded) {
    Router router;
    router.Add(Named(HttpMethod::kGet, "/jobs/{id}"));
    EXPECT_DEATH(router.Add(Named(HttpMethod::kGet, "/jobs/{other}")), "two routes");
    EXPECT_DEATH(router.Add(Named(HttpMethod::kGet, "jobs")), "starts with a slash");
    EXPECT_DEATH(router.Add(Named(HttpMethod::kGet, "/jobs/")), "ends without a slash");
    EXPECT_DEATH(router.Add(Named(HttpMethod::kGet, "/jobs//x")), "token characters");
    EXPECT_DEATH(router.Add(Named(HttpMethod::kGet, "/{a...}/x")), "stands last");
    EXPECT_DEATH(router.Add(Named(HttpMethod::kGet, "/{}")), "no proper name");
    EXPECT_DEATH(router.Add({HttpMethod::kGet, "/x", Permission::kRead, "", Where::kPool,
                             [](const Request&) { return NoContent(); }}),
                 "what it is for");
}

TEST(RouterTest, WithoutAHookOnlyPublicRoutesAreOpen) {
    Router router;
    router.Add(Named(HttpMethod::kGet, "/open"))
        .Add(Named(HttpMethod::kGet, "/closed", Permission::kRead));
    Request request;
    EXPECT_FALSE(Refusal(router, *router.routes().at(0), request));
    const auto denied = Refusal(router, *router.routes().at(1), request);
    ASSERT_TRUE(denied);
    EXPECT_EQ(denied->status, 401);
    EXPECT_EQ(denied->headers, (TextPairs{{"WWW-Authenticate", "Bearer"}}));
}

TEST(RouterTest, TheHookDecides) {
    Router router;
    router.Add({HttpMethod::kGet, "/x", Permission::kOperate, "Greets.", Where::kInline,
                [](const Request&) { return NoContent(); }});
    Permission asked = Permission::kPublic;
    router.SetAuthorize([&asked](const Request& request, Permission wanted) -> Result<Caller> {
        asked = wanted;
        if (request.QueryValue("who") != "me") return Error(Code::kPermissionDenied, "not you");
        return Caller{.name = "me"};
    });
    Request request;
    const auto denied = Refusal(router, *router.routes().at(0), request);
    ASSERT_TRUE(denied);
    EXPECT_EQ(denied->status, 403);
    EXPECT_EQ(asked, Permission::kOperate);
    request.query.emplace_back("who", "me");
    EXPECT_FALSE(Refusal(router, *router.routes().at(0), request));
    EXPECT_EQ(request.caller.name, "me");
}

TEST(RouterTest, AForeignHostIsMisdirectedExceptOnPublicRoutes) {
    Router router;
    router.Add(Named(HttpMethod::kGet, "/open"))
        .Add(Named(HttpMethod::kGet, "/closed", Permission::kRead));
    router.SetHosts(HostRule({"ksana.example"}));
    bool asked = false;
    router.SetAuthorize([&asked](const Request&, Permission) -> Result<Caller> {
        asked = true;
        return Caller{.name = "anyone"};
    });
    Request request;
    request.headers.Add("Host", "evil.example:7100");
    EXPECT_FALSE(Refusal(router, *router.routes().at(0), request));
    const auto refused = Refusal(router, *router.routes().at(1), request);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 421);
    EXPECT_NE(refused->body.find("evil.example:7100"), std::string::npos) << refused->body;
    EXPECT_NE(refused->body.find("allowed_hosts"), std::string::npos) << refused->body;
    EXPECT_FALSE(asked);
    Request own;
    own.headers.Add("Host", "KSANA.example");
    EXPECT_FALSE(Refusal(router, *router.routes().at(1), own));
}

TEST(RouterTest, RoutesThatReadNoBodyTakeNone) {
    EXPECT_EQ(Named(HttpMethod::kGet, "/x").body_limit(), kIgnoredBody);
    EXPECT_EQ(Named(HttpMethod::kDelete, "/x").body_limit(), kIgnoredBody);
    EXPECT_EQ(Named(HttpMethod::kPost, "/x").body_limit(), std::nullopt);
    EXPECT_EQ(Named(HttpMethod::kPost, "/x").WithBodyLimit(3).body_limit(), 3U);
}

}  // namespace
}  // namespace ksana::http_server

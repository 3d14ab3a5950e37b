#include <gtest/gtest.h>

#include <set>

#include "api_v1/v1_fixture.hpp"
#include "ksana/api/v1/openapi_text.hpp"
#include "ksana/codec/json/json_text.hpp"

namespace ksana::api {
namespace {

using http_server::Permission;

class DescriptionTest : public V1Fixture {
  protected:
    static std::vector<codec::JsonMember> MembersOf(std::string_view json, std::string_view name) {
        const auto members = codec::JsonMembers(json);
        EXPECT_TRUE(members) << name;
        if (!members) return {};
        for (const codec::JsonMember& member : *members) {
            if (member.name == name) return *codec::JsonMembers(member.json);
        }
        ADD_FAILURE() << "no member " << name;
        return {};
    }

    // "GET /api/v1/jobs" of everything described.
    static std::set<std::string> Described() {
        std::set<std::string> found;
        for (const codec::JsonMember& path : MembersOf(kOpenApi, "paths")) {
            const auto methods = codec::JsonMembers(path.json);
            for (const codec::JsonMember& method : *methods) {
                if (method.name == "parameters") continue;
                std::string upper;
                for (const char c : method.name) upper += static_cast<char>(c - ('a' - 'A'));
                found.insert(upper + " " + path.name);
            }
        }
        return found;
    }
};

TEST_F(DescriptionTest, RoutesAndPathsAreTheSame) {
    std::set<std::string> routes;
    for (const auto& route : router_.routes()) {
        routes.insert(fmt::format("{} {}", MethodName(route->method()), route->pattern()));
    }
    EXPECT_EQ(routes, Described());
}

TEST_F(DescriptionTest, IsServedAsItIs) {
    const Response answer = Get("/openapi.json");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(answer.body, kOpenApi);
    const std::string tag = api::HeaderOf(answer, "ETag");
    EXPECT_EQ(Get("/openapi.json", {{"If-None-Match", tag}}).status, 304);
}

TEST_F(DescriptionTest, EveryRouteSaysWhatItNeeds) {
    // They take a body, and change nothing.
    const std::set<std::string_view> questions = {"/api/v1/preview", "/api/v1/simulate",
                                                  "/api/v1/calendars/preview"};
    const std::set<std::string_view> definitions = {"/api/v1/jobs", "/api/v1/runs",
                                                    "/api/v1/runs/batch", "/api/v1/runs/purge",
                                                    "/api/v1/types"};
    for (const auto& route : router_.routes()) {
        const bool reads = route->method() == Method::kGet || questions.contains(route->pattern());
        if (route->pattern() == "/api/v1/calendars/{name}/import") {
            EXPECT_EQ(route->permission(), Permission::kWrite);
            continue;
        }
        const bool verb =
            route->method() == Method::kPost && !definitions.contains(route->pattern());
        const Permission wanted = route->pattern() == "/api/v1/openapi.json" ? Permission::kPublic
                                  : reads                                    ? Permission::kRead
                                  : verb                                     ? Permission::kOperate
                                                                             : Permission::kWrite;
        EXPECT_EQ(route->permission(), wanted) << route->pattern();
    }
}

}  // namespace
}  // namespace ksana::api

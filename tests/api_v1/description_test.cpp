#include <gtest/gtest.h>

#include <set>

#include "api_v1/v1_fixture.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::api {
namespace {

using http_server::Permission;

class DescriptionTest : public V1Fixture {
  protected:
    using Names = std::set<std::string>;

    codec::Json Document() {
        const auto document = codec::Json::Parse(Get("/openapi.json").body);
        EXPECT_TRUE(document);
        return document.value_or(codec::Json());
    }

    // Returns all described routes, such as "GET /api/v1/jobs".
    Names Described() {
        Names found;
        for (const auto& [path, item] : Document().At("/paths").Members()) {
            for (const auto& [method, operation] : item.Members()) {
                std::string upper;
                for (const char c : method) upper += static_cast<char>(c - ('a' - 'A'));
                found.insert(upper + " " + path);
            }
        }
        return found;
    }

    // Returns the names of the query parameters of an operation.
    static Names QueryNames(const codec::Json& document, const codec::Json& operation) {
        Names names;
        for (const codec::Json& item : operation.At("/parameters").Items()) {
            const std::string reference = item.TextAt("/$ref");
            const codec::Json one = reference.empty() ? item : document.At(reference.substr(1));
            if (one.TextAt("/in") == "query") names.insert(one.TextAt("/name"));
        }
        return names;
    }
};

TEST_F(DescriptionTest, RoutesAndPathsAreTheSame) {
    std::set<std::string> routes;
    for (const auto& route : router_.routes()) {
        routes.insert(fmt::format("{} {}", NameOf(route->method()), route->pattern()));
    }
    EXPECT_EQ(routes, Described());
}

TEST_F(DescriptionTest, IsTheSameEachTimeAndHasATag) {
    const Response answer = Get("/openapi.json");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(Get("/openapi.json").body, answer.body);
    http_server::Router other;
    Mount(other);
    const auto request = api::MakeRequest(HttpMethod::kGet, "/api/v1/openapi.json", "");
    EXPECT_EQ(api::CallRouter(other, request).body, answer.body);
    const std::string tag = api::HeaderOf(answer, "ETag");
    EXPECT_EQ(Get("/openapi.json", {{"If-None-Match", tag}}).status, 304);
}

// The answer to a query with an unknown name lists the known names.
TEST_F(DescriptionTest, QueriesAreReadAsTheyAreDescribed) {
    Make("j");
    const codec::Json document = Document();
    for (const auto& [path, item] : document.At("/paths").Members()) {
        if (!item.Has("/get")) continue;
        std::string target = path.substr(std::string_view("/api/v1").size());
        const std::size_t brace = target.find('{');
        if (brace != std::string::npos) {
            target.replace(brace, target.find('}') - brace + 1, "j");
        }
        const Response answer = Get(target + "?no_such_name=1");
        ASSERT_EQ(answer.status, 400) << target;
        const auto problem = codec::Json::Parse(answer.body);
        ASSERT_TRUE(problem);
        Names known;
        for (const codec::Json& name : problem->At("/errors/0/allowed").Items()) {
            known.insert(name.Text());
        }
        EXPECT_EQ(QueryNames(document, item.At("/get")), known) << target;
    }
}

TEST_F(DescriptionTest, EveryMemberIsDescribed) {
    const codec::Json document = Document();
    for (const auto& [name, schema] : document.At("/components/schemas").Members()) {
        for (const auto& [member, part] : schema.At("/properties").Members()) {
            const codec::Json named =
                document.At(part.TextAt("/$ref").substr(part.Has("/$ref") ? 1 : 0));
            const bool described = part.Has("/description") || part.Has("/oneOf") ||
                                   (part.Has("/$ref") && named.Has("/description"));
            EXPECT_TRUE(described) << name << "/" << member;
        }
    }
}

TEST_F(DescriptionTest, EveryRouteSaysWhatItNeeds) {
    // These take a body and change nothing.
    const std::set<std::string_view> questions = {"/api/v1/preview", "/api/v1/simulate",
                                                  "/api/v1/calendars/preview"};
    const std::set<std::string_view> definitions = {"/api/v1/jobs", "/api/v1/runs",
                                                    "/api/v1/runs/batch", "/api/v1/runs/purge",
                                                    "/api/v1/types"};
    for (const auto& route : router_.routes()) {
        const bool reads =
            route->method() == HttpMethod::kGet || questions.contains(route->pattern());
        if (route->pattern() == "/api/v1/calendars/{name}/import") {
            EXPECT_EQ(route->permission(), Permission::kWrite);
            continue;
        }
        // A worker that leaves says so itself, with what lets it register.
        const bool leaves = route->pattern() == "/api/v1/workers/{name}";
        const bool posts = route->method() == HttpMethod::kPost || leaves;
        const bool verb = posts && !definitions.contains(route->pattern());
        const Permission wanted = route->pattern() == "/api/v1/openapi.json" ? Permission::kPublic
                                  : reads                                    ? Permission::kRead
                                  : verb                                     ? Permission::kOperate
                                                                             : Permission::kWrite;
        EXPECT_EQ(route->permission(), wanted) << route->pattern();
    }
}

}  // namespace
}  // namespace ksana::api

#include "ksana/api/edge/health_routes.hpp"

#include <gtest/gtest.h>

#include "api/call_router.hpp"

namespace ksana::api {
namespace {

using http_server::Permission;

class HealthRoutesTest : public ::testing::Test {
  protected:
    HealthRoutesTest() {
        AddHealthRoutes(router_, {.live = {{"engine", [this] { return engine_; }}},
                                  .ready = {{"store", [this] { return store_; }},
                                            {"serving", [this] { return serving_; }}},
                                  .metrics = metrics_});
        router_.SetAuthorize([](const auto&, Permission) -> Result<http_server::Caller> {
            return Error(Code::kUnauthenticated, "nobody");
        });
    }

    http_server::Response Get(const std::string& target) {
        return CallRouter(router_, MakeRequest(HttpMethod::kGet, target));
    }

    Result<void> engine_;
    Result<void> store_;
    Result<void> serving_;
    telemetry::Registry metrics_;
    http_server::Router router_;
};

TEST_F(HealthRoutesTest, ProbesAreOpenAndMetricsAreNot) {
    for (const auto& route : router_.routes()) {
        const bool open = route->pattern() != "/metrics";
        EXPECT_EQ(route->permission(), open ? Permission::kPublic : Permission::kRead)
            << route->pattern();
        EXPECT_FALSE(route->description().empty());
    }
    EXPECT_EQ(router_.routes().size(), 4U);
    EXPECT_EQ(Get("/health").status, 200);
    EXPECT_EQ(Get("/livez").status, 200);
    EXPECT_EQ(Get("/readyz").status, 200);
    EXPECT_EQ(Get("/metrics").status, 401);
}

TEST_F(HealthRoutesTest, HealthAnswersWhateverIsWrong) {  // K-14
    engine_ = store_ = serving_ = Error(Code::kInternal, "broken");
    const auto response = Get("/health");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"status":"ok"})");
    EXPECT_EQ(response.content_type, "application/json");
}

TEST_F(HealthRoutesTest, EachProbeHasItsOwnChecks) {
    store_ = Error(Code::kUnavailable, "no route to db.internal");
    EXPECT_EQ(Get("/livez").status, 200) << "a restart would not bring back the database";
    EXPECT_EQ(Get("/readyz").status, 503);
    store_ = {};
    engine_ = Error(Code::kInternal, "hangs");
    EXPECT_EQ(Get("/livez").status, 503);
    EXPECT_EQ(Get("/readyz").status, 200);
}

TEST_F(HealthRoutesTest, WhatIsWrongIsToldToWhoAsks) {
    EXPECT_EQ(Get("/readyz").body, "ok\n");
    EXPECT_EQ(Get("/readyz?verbose").body, "[+] store ok\n[+] serving ok\nok\n");
    store_ = Error(Code::kUnavailable, "no route to db.internal");
    EXPECT_EQ(Get("/readyz").body, "[-] store failed\nnot ok\n");
    EXPECT_EQ(Get("/readyz?verbose").body,
              "[-] store failed: no route to db.internal\n[+] serving ok\nnot ok\n");
    EXPECT_EQ(Get("/livez?verbose=1").body, "[+] engine ok\nok\n");
}

TEST_F(HealthRoutesTest, MetricsAreTextForPrometheus) {
    metrics_.AddCounter({"ksana_tests_total", "Tests that ran.", {}}).Add();
    router_.SetAuthorize(
        [](const auto&, Permission) -> Result<http_server::Caller> { return {{.name = "me"}}; });
    const auto response = Get("/metrics");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_NE(response.body.find("# HELP ksana_tests_total Tests that ran."), std::string::npos);
    EXPECT_NE(response.body.find("ksana_tests_total 1"), std::string::npos) << response.body;
}

TEST_F(HealthRoutesTest, MetricsAreOpenMetricsForWhoPrefersThem) {  // D-14
    metrics_.AddCounter({"ksana_tests_total", "Tests that ran.", {}}).Add();
    router_.SetAuthorize(
        [](const auto&, Permission) -> Result<http_server::Caller> { return {{.name = "me"}}; });
    auto request = MakeRequest(HttpMethod::kGet, "/metrics");
    request.headers.Add("Accept", "application/openmetrics-text, text/plain;q=0.5");
    const auto response = CallRouter(router_, std::move(request));
    EXPECT_EQ(response.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_EQ(response.body,
              "# HELP ksana_tests Tests that ran.\n# TYPE ksana_tests counter\n"
              "ksana_tests_total 1\n# EOF\n");
}

TEST_F(HealthRoutesTest, OnlyReadingIsPossible) {
    for (const char* const path : {"/health", "/livez", "/readyz", "/metrics"}) {
        EXPECT_EQ(CallRouter(router_, MakeRequest(HttpMethod::kPost, path)).status, 405) << path;
    }
}

}  // namespace
}  // namespace ksana::api

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "ksana/http_server/routing/dispatch.hpp"
#include "ksana/http_server/wire/target.hpp"

namespace ksana::api {

// Returns a request as the server would make it from these parts.
inline http_server::Request MakeRequest(HttpMethod method, const std::string& target,
                                        std::string body = "") {
    http_server::Target parsed;
    EXPECT_FALSE(ParseTarget(target, parsed)) << target;
    http_server::Request request;
    request.method = method;
    request.path = parsed.path;
    request.segments = parsed.segments;
    request.query = parsed.query;
    request.body = std::move(body);
    request.request_id = "r1";
    return request;
}

// Calls an asynchronous route. The response has status 0 until the route answers through its Reply.
inline http_server::Response CallAsync(const http_server::Route& route,
                                       http_server::Request request) {
    const auto answer = std::make_shared<http_server::Response>();
    answer->status = 0;
    http_server::Reply reply(
        [answer](http_server::Response response) { *answer = std::move(response); }, request.path,
        request.request_id);
    std::get<http_server::AsyncHandler>(route.handler())(std::move(request), std::move(reply));
    return *answer;
}

// Returns the router's answer, on the calling thread and without a connection.
inline http_server::Response CallRouter(const http_server::Router& router,
                                        http_server::Request request) {
    auto match = router.Find(request.method, request.segments);
    http_server::Response response;
    if (match.route == nullptr) {
        response = http_server::Router::NoRoute(
            request.method, match, {.instance = request.path, .request_id = request.request_id});
    } else {
        request.parameters = std::move(match.parameters);
        auto refusal = Refusal(router, *match.route, request);
        response = refusal                       ? *std::move(refusal)
                   : match.route->asynchronous() ? CallAsync(*match.route, request)
                                                 : RunHandler(*match.route, request);
    }
    for (const auto& field : router.HeadersUnder(request.path)) response.headers.push_back(field);
    return response;
}

// Returns the first header of that name, or "".
inline std::string HeaderOf(const http_server::Response& response, const std::string& name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) return value;
    }
    return "";
}

}  // namespace ksana::api

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ksana/http_server/dispatch.hpp"
#include "ksana/http_server/target.hpp"

namespace ksana::api {

// A request as the server makes it of these.
inline http_server::Request MakeRequest(http_server::Method method, const std::string& target,
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

// What the router answers, on this thread and without a connection.
inline http_server::Response CallRouter(const http_server::Router& router,
                                        http_server::Request request) {
    auto match = router.Find(request.method, request.segments);
    http_server::Response response;
    if (match.route == nullptr) {
        response = http_server::Router::NoRoute(
            request.method, match, {.instance = request.path, .request_id = request.request_id});
    } else {
        request.parameters = std::move(match.parameters);
        response = RunHandler(router, *match.route, request);
    }
    for (const auto& field : router.HeadersUnder(request.path)) response.headers.push_back(field);
    return response;
}

// The first header of that name, or "".
inline std::string HeaderOf(const http_server::Response& response, const std::string& name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) return value;
    }
    return "";
}

}  // namespace ksana::api

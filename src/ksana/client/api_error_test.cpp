#include "ksana/client/api_error.hpp"

#include <gtest/gtest.h>

namespace ksana::client {
namespace {

TEST(ApiError, AProblemComesOutWhole) {
    const Error error = ErrorOfAnswer(400, R"({"type": "urn:ksana:problem:invalid_argument",
        "title": "Invalid argument", "status": 400, "detail": "the input has 2 problems",
        "instance": "/api/v1/jobs", "code": "invalid_argument", "request_id": "r-1",
        "errors": [{"pointer": "/name", "code": "missing", "detail": "is missing"},
                   {"pointer": "/type", "code": "not_allowed", "detail": "no such",
                    "allowed": ["http", "queue"]}]})");
    EXPECT_EQ(error.code, Code::kInvalidArgument);
    EXPECT_EQ(error.Describe(),
              "the input has 2 problems (urn:ksana:problem:invalid_argument, request r-1)\n"
              "  /name: is missing\n  /type: no such");
    ASSERT_EQ(error.problems.size(), 2U);
    EXPECT_EQ(error.problems[1].allowed, (std::vector<std::string>{"http", "queue"}));
}

TEST(ApiError, TheNameDecidesAndElseTheStatus) {
    const auto code = [](int status, std::string_view name) {
        return ErrorOfAnswer(status, std::string(R"({"type": "urn:x", "detail": "d", "code": ")")
                                         .append(name)
                                         .append("\"}"))
            .code;
    };
    EXPECT_EQ(code(409, "already_exists"), Code::kAlreadyExists);
    EXPECT_EQ(code(412, "precondition_failed"), Code::kConflict);
    EXPECT_EQ(code(428, "precondition_required"), Code::kConflict);
    EXPECT_EQ(code(405, "method_not_allowed"), Code::kInvalidArgument);
    EXPECT_EQ(code(401, "x"), Code::kUnauthenticated);
    EXPECT_EQ(code(404, "x"), Code::kNotFound);
    EXPECT_EQ(code(503, "x"), Code::kUnavailable);
    EXPECT_EQ(code(500, "x"), Code::kInternal);
}

TEST(ApiError, WhatIsNoProblemIsToldByItsStatus) {
    const Error page = ErrorOfAnswer(502, "<html>\x1b[31mbad gateway</html>");
    EXPECT_EQ(page.code, Code::kUnavailable);
    EXPECT_EQ(page.message.find('\x1b'), std::string::npos) << "nothing paints the terminal";
    EXPECT_NE(page.message.find("502"), std::string::npos);
    EXPECT_EQ(ErrorOfAnswer(404, "").message, "the server answered 404");
    EXPECT_LT(ErrorOfAnswer(500, std::string(100'000, 'x')).message.size(), 300U);
}

}  // namespace
}  // namespace ksana::client

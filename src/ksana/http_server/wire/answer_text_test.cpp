#include "ksana/http_server/wire/answer_text.hpp"

#include <gtest/gtest.h>

#include "ksana/base/log/log.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::http_server {
namespace {

TEST(AnswerTextTest, DatesAreThoseOfHttp) {
    EXPECT_EQ(HttpDate(*ParseTime("1994-11-06T08:49:37.9Z")), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(HttpDate(*ParseTime("2024-02-29T00:00:00Z")), "Thu, 29 Feb 2024 00:00:00 GMT");
}

TEST(AnswerTextTest, AnAnswerIsOneText) {
    std::string text;
    AppendAnswer(text, {.request_id = "r1", .date = "D"}, TextResponse(200, "hi"));
    EXPECT_EQ(text,
              "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: text/plain; charset=utf-8\r\n"
              "Content-Length: 2\r\nX-Request-Id: r1\r\nX-Content-Type-Options: nosniff\r\n"
              "Cache-Control: no-store\r\n\r\nhi");
}

TEST(AnswerTextTest, HandlersCannotForgeFieldsOrLengths) {
    SetLogSinkForTest([](LogLevel, std::string_view) {});
    Response response = TextResponse(200, "hi");
    response.headers = {{"X-Good", "1"},
                        {"X-Bad", "a\r\nSet-Cookie: b"},
                        {"X Bad", "a"},
                        {"Content-Length", "100"},
                        {"Cache-Control", "max-age=5"}};
    std::string text;
    AppendAnswer(text, {.request_id = "r1", .date = "D"}, response);
    SetLogSinkForTest({});
    EXPECT_NE(text.find("X-Good: 1\r\n"), std::string::npos);
    EXPECT_NE(text.find("Cache-Control: max-age=5\r\n"), std::string::npos);
    for (const char* forged : {"Set-Cookie", "X Bad", "100", "no-store"}) {
        EXPECT_EQ(text.find(forged), std::string::npos) << forged;
    }
}

TEST(AnswerTextTest, SomeAnswersHaveNoBody) {
    std::string text;
    Response none = NoContent();
    none.body = "lost";
    AppendAnswer(text, {.keep_alive = false}, none);
    EXPECT_EQ(text.find("Content-Length"), std::string::npos);
    EXPECT_NE(text.find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("\r\n\r\n"));
    text.clear();
    AppendAnswer(text, {.minor_version = 0, .without_body = true}, TextResponse(200, "hello"));
    EXPECT_NE(text.find("Content-Length: 5\r\n"), std::string::npos);
    EXPECT_NE(text.find("Connection: keep-alive\r\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

TEST(ProblemTest, TellsEverythingAboutAnError) {
    const Error error(std::vector<Problem>{{"/name", "is empty"},
                                           {"/cron", "has \"7\" fields"},
                                           {"/type", "is not \"a\"", "not_allowed", {"b", "c"}}});
    Request request;
    request.path = "/jobs";
    request.request_id = "r1";
    const Response response = ProblemOf(error, request);
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(response.body,
              R"({"type":"urn:ksana:problem:invalid_argument","title":"Invalid argument",)"
              R"("status":400,"detail":"the input has 3 problems","instance":"/jobs",)"
              R"("code":"invalid_argument","request_id":"r1","errors":[)"
              R"({"pointer":"/name","code":"invalid","detail":"is empty"},)"
              R"({"pointer":"/cron","code":"invalid","detail":"has \"7\" fields"},)"
              R"({"pointer":"/type","code":"not_allowed","detail":"is not \"a\"",)"
              R"("allowed":["b","c"]}]})");
}

TEST(ProblemTest, StatusesAreThoseOfTheCodes) {
    for (std::size_t i = 0; i < kCodeCount; ++i) {
        const Code code = static_cast<Code>(i);
        EXPECT_EQ(ProblemOf(Error(code, "x"), ProblemPlace{}).status, Info(code).http_status);
    }
}

TEST(ProblemTest, AnyTextBecomesAJsonString) {
    const auto detail = [](std::string text) {
        const std::string body =
            ProblemOf(Error(Code::kInternal, std::move(text)), ProblemPlace{}).body;
        const std::size_t begin = body.find("\"detail\":") + 9;
        return body.substr(begin, body.find(",\"instance\"") - begin);
    };
    EXPECT_EQ(detail(std::string("a\"\\\n\x01\0z", 7)), R"("a\"\\\n\u0001\u0000z")");
    EXPECT_EQ(detail("\xff\""), R"("\\xff\"")");
}

}  // namespace
}  // namespace ksana::http_server

#include "ksana/http_client/plain/plain_parser.hpp"

#include <gtest/gtest.h>

namespace ksana::http_client {
namespace {

// The result of parsing an answer.
struct Parsed {
    ParseStatus status = ParseStatus::kNeedMore;
    CallAnswer answer;
    std::string left;  // bytes after the answer
    std::string fault;
    bool keep_alive = false;
    bool too_many_headers = false;
};

// Feeds the pieces in order, and then the end of input if the answer is still incomplete.
Parsed Parse(const std::vector<std::string_view>& pieces, const CallRequest& request = {}) {
    Parsed parsed;
    AnswerCollector intake(request, parsed.answer);
    PlainParser parser;
    parser.Begin(intake, parsed.answer, request.method == HttpMethod::kHead);
    for (const std::string_view piece : pieces) {
        std::string_view bytes = piece;
        if (parsed.status == ParseStatus::kNeedMore) parsed.status = parser.Feed(bytes);
        parsed.left += bytes;
    }
    if (parsed.status == ParseStatus::kNeedMore) parsed.status = parser.End();
    parsed.fault = parser.fault();
    parsed.keep_alive = parser.keep_alive();
    parsed.too_many_headers = intake.too_many_headers();
    return parsed;
}

void ExpectSame(const Parsed& one, const Parsed& other, std::string_view text) {
    EXPECT_EQ(one.status, other.status) << text;
    EXPECT_EQ(one.fault, other.fault) << text;
    EXPECT_EQ(one.answer.status, other.answer.status) << text;
    EXPECT_EQ(one.answer.headers, other.answer.headers) << text;
    EXPECT_EQ(one.answer.body, other.answer.body) << text;
    EXPECT_EQ(one.answer.http_version, other.answer.http_version) << text;
    if (one.status != ParseStatus::kComplete) return;
    EXPECT_EQ(one.left, other.left) << text;
    EXPECT_EQ(one.keep_alive, other.keep_alive) << text;
}

// Parses the text in one piece. Checks that cutting it in two at any place, or into single bytes,
// gives the same result.
Parsed ParseHoweverCut(std::string_view text, const CallRequest& request = {}) {
    Parsed whole = Parse({text}, request);
    for (std::size_t i = 1; i < text.size(); ++i) {
        ExpectSame(whole, Parse({text.substr(0, i), text.substr(i)}, request), text);
    }
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < text.size(); ++i) bytes.push_back(text.substr(i, 1));
    ExpectSame(whole, Parse(bytes, request), text);
    return whole;
}

constexpr std::string_view kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string WithChunks(std::string_view chunks) { return std::string(kChunked).append(chunks); }

TEST(PlainParser, ReadsHeadAndBody) {
    const auto parsed =
        ParseHoweverCut("HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-A:  b c \r\n\r\nhello");
    EXPECT_EQ(parsed.status, ParseStatus::kComplete);
    EXPECT_EQ(parsed.answer.status, 201);
    EXPECT_EQ(parsed.answer.http_version, 11);
    EXPECT_EQ(parsed.answer.body, "hello");
    const std::vector<Header> headers = {{"Content-Length", "5"}, {"X-A", "b c"}};
    EXPECT_EQ(parsed.answer.headers, headers);
    EXPECT_TRUE(parsed.keep_alive);
}

TEST(PlainParser, KnowsWhichAnswersHaveNoBody) {
    for (const std::string_view head :
         {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n",
          "HTTP/1.1 204 N\r\nTransfer-Encoding: chunked\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
        const auto parsed = ParseHoweverCut(std::string(head) + "more");
        EXPECT_EQ(parsed.status, ParseStatus::kComplete) << head;
        EXPECT_EQ(parsed.answer.body, "") << head;
        EXPECT_EQ(parsed.left, "more") << head;
        EXPECT_TRUE(parsed.keep_alive) << head;
    }
    const auto to_head = ParseHoweverCut("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
                                         {.method = HttpMethod::kHead});
    EXPECT_EQ(to_head.status, ParseStatus::kComplete);
    EXPECT_TRUE(to_head.keep_alive);
}

TEST(PlainParser, ReadsChunksAndWhatFollowsThem) {
    const auto parsed =
        ParseHoweverCut(WithChunks("3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\nmore"));
    EXPECT_EQ(parsed.status, ParseStatus::kComplete);
    EXPECT_EQ(parsed.answer.body, "abc0123456789");
    EXPECT_EQ(*FindHeader(parsed.answer.headers, "x-sum"), "1");
    EXPECT_EQ(parsed.left, "more");
    EXPECT_TRUE(parsed.keep_alive);
}

TEST(PlainParser, ABodyWithoutALengthGoesOnToTheEnd) {
    for (const std::string_view head :
         {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\n"}) {
        const auto parsed = ParseHoweverCut(std::string(head) + "hello");
        EXPECT_EQ(parsed.status, ParseStatus::kComplete) << head;
        EXPECT_EQ(parsed.answer.body, "hello") << head;
        EXPECT_FALSE(parsed.keep_alive) << head;
    }
}

TEST(PlainParser, SkipsInterimAnswers) {
    const auto parsed = ParseHoweverCut(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nX-Early: 1\r\nContent-Length: 9\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    EXPECT_EQ(parsed.status, ParseStatus::kComplete);
    EXPECT_EQ(parsed.answer.status, 200);
    EXPECT_EQ(parsed.answer.headers.size(), 1U);
    EXPECT_EQ(parsed.answer.body, "ok");
}

TEST(PlainParser, SaysWhichConnectionsStay) {
    const auto stays = [](std::string_view head) {
        return ParseHoweverCut(std::string(head) + "Content-Length: 0\r\n\r\n").keep_alive;
    };
    EXPECT_TRUE(stays("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(stays("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n"));
    EXPECT_TRUE(stays("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n"));
    EXPECT_TRUE(stays("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"));
    EXPECT_FALSE(stays("HTTP/1.0 200 OK\r\n"));
    EXPECT_FALSE(stays("HTTP/2 200 OK\r\n"));
    EXPECT_FALSE(stays("HTTP/1.1 200 OK\r\nConnection: Close\r\n"));
    EXPECT_FALSE(stays("HTTP/1.1 200 OK\r\nConnection: upgrade, close\r\n"));
}

// The parser reads these as libcurl does, but a proxy may have read them differently.
TEST(PlainParser, AConnectionWhoseAnswerIsAmbiguousDoesNotStay) {
    for (const std::string_view text :
         {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 3\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nContent-Length: 3x\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n folded\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding : chunked\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n"
          "3\r\nabc\r\n0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
          "3\r\nabc\r\n0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n"
          "3\r\nabc\r\n0\r\n\r\n"}) {
        const auto parsed = ParseHoweverCut(text);
        EXPECT_EQ(parsed.status, ParseStatus::kComplete) << text << parsed.fault;
        EXPECT_EQ(parsed.answer.body, "abc") << text;
        EXPECT_FALSE(parsed.keep_alive) << text;
    }
}

TEST(PlainParser, WhatIsNoAnswerIsAFault) {
    const std::string nul("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 27);
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "Empty reply from server"},
        {"HTTP/1.", "Empty reply from server"},
        {"HTTP/1.1 100 Continue\r\n\r\n", "Empty reply from server"},
        {"HTTX", "Received HTTP/0.9 when not allowed"},
        {"\r\nHTTP/1.1 200 OK\r\n\r\n", "Received HTTP/0.9 when not allowed"},
        {"SSH-2.0-OpenSSH\r\n", "Received HTTP/0.9 when not allowed"},
        {"HTTP/9.9 200 OK\r\n\r\n", "Unsupported HTTP version (9.9) in response"},
        {"HTTP/ 200 OK\r\n\r\n", "Unsupported HTTP version in response"},
        {"HTTP/1.1\r\n\r\n", "Unsupported response code in HTTP response"},
        {"HTTP/1.1 20 OK\r\n\r\n", "Unsupported response code in HTTP response"},
        {"HTTP/1.1 2000 OK\r\n\r\n", "Unsupported response code in HTTP response"},
        {"HTTP/1.1 099 OK\r\n\r\n", "Unsupported response code in HTTP response"},
        {"HTTP/1.1 -20 OK\r\n\r\n", "Unsupported response code in HTTP response"},
        {"HTTP/1.1 200 OK\r\n", ""},
        {"HTTP/1.1 200 OK\r\nX: y\r\n", ""},
        {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "Header without colon"},
        {"HTTP/1.1 200 OK\r\nX: y\r\nHTTP/1.1 201 OK\r\n\r\n", "Header without colon"},
        {"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "Folded line without a header"},
        {nul, "Nul byte in header"},
        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Invalid Content-Length: value"},
        {"HTTP/1.1 200 OK\r\nContent-Length: +-1\r\n\r\n", "Invalid Content-Length: value"},
        {"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "Invalid Content-Length: value"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
         "transfer closed with 7 bytes remaining to read"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
         "Unrecognized transfer coding in response"},
        {WithChunks("zz\r\n"), "Illegal or missing hexadecimal sequence in chunked-encoding"},
        {WithChunks("\r\n"), "Illegal or missing hexadecimal sequence in chunked-encoding"},
        {WithChunks("8000000000000000\r\n"),
         "Illegal or missing hexadecimal sequence in chunked-encoding"},
        {WithChunks("00000000000000001\r\n"), "Too long hexadecimal number in chunked-encoding"},
        {WithChunks("3\r\nabcX"), "Malformed encoding found in chunked-encoding"},
        {WithChunks("3\r\nab"), "transfer closed with outstanding read data remaining"},
        {WithChunks("3\r\nabc\r\n0\r\n"), "transfer closed with outstanding read data remaining"},
        {WithChunks("0\r\nno colon\r\n\r\n"), "Header without colon"},
    };
    for (const auto& [text, fault] : cases) {
        const auto parsed = ParseHoweverCut(text);
        EXPECT_EQ(parsed.status, ParseStatus::kFault) << text;
        EXPECT_EQ(parsed.fault, fault) << text;
        EXPECT_FALSE(parsed.too_many_headers) << text;
    }
}

TEST(PlainParser, HeadersAreBounded) {
    const std::string long_value(100, 'x');
    for (const std::string& text :
         {"HTTP/1.1 200 OK\r\nX: " + long_value, "HTTP/1.1 200 " + long_value,
          "HTTP/1.1 200 OK\r\nX: " + long_value + "\r\n\r\n", WithChunks("3;" + long_value),
          WithChunks("0\r\nX: " + long_value),
          std::string("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 103 Hints\r\n"
                      "\r\nHTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n")}) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
            std::vector<std::string_view> pieces;
            for (std::size_t i = 0; i < text.size(); i += piece) {
                pieces.push_back(std::string_view(text).substr(i, piece));
            }
            const auto parsed = Parse(pieces, {.max_header_bytes = 90});
            EXPECT_EQ(parsed.status, ParseStatus::kFault) << text;
            EXPECT_TRUE(parsed.too_many_headers) << text;
        }
    }
}

TEST(PlainParser, ABodyIsReadSoFarAndKeptSoFar) {
    const std::string body(100, 'x');
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    const auto kept = Parse({head, body}, {.max_kept = 10, .max_read = 100});
    EXPECT_EQ(kept.status, ParseStatus::kComplete);
    EXPECT_EQ(kept.answer.body.size(), 10U);
    EXPECT_TRUE(kept.answer.body_truncated);
    EXPECT_TRUE(kept.keep_alive);
    const auto stopped = Parse({head, body}, {.max_kept = 10, .max_read = 99});
    EXPECT_EQ(stopped.status, ParseStatus::kComplete);
    EXPECT_TRUE(stopped.answer.body_truncated);
    EXPECT_FALSE(stopped.keep_alive);
}

}  // namespace
}  // namespace ksana::http_client

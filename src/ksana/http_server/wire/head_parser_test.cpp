#include "ksana/http_server/wire/head_parser.hpp"

#include <gtest/gtest.h>

namespace ksana::http_server {
namespace {

// Returns 200 for a valid head, 100 for an incomplete one, else the status of the fault.
int StatusOf(std::string_view text, const HeadParser::Limits& limits = {}) {
    HeadParser parser(limits);
    switch (parser.Feed(text)) {
        case ParseStatus::kNeedMore:
            return 100;
        case ParseStatus::kComplete:
            return 200;
        case ParseStatus::kFault:
            return parser.fault().status;
    }
    return 0;
}

std::string With(std::string_view fields) {
    return "POST /a HTTP/1.1\r\nHost: test\r\n" + std::string(fields) + "\r\n";
}

TEST(HeadParserTest, ReadsAHead) {
    HeadParser parser({});
    const std::string text =
        "POST /a?b=c HTTP/1.1\r\nHost: test:80\r\nX-Empty:\r\nx-two: \t a  b \t\r\n"
        "Content-Length: 12\r\n\r\n";
    ASSERT_EQ(parser.Feed(text + "body"), ParseStatus::kComplete);
    EXPECT_EQ(parser.size(), text.size());
    const Head& head = parser.head();
    EXPECT_EQ(head.method, HttpMethod::kPost);
    EXPECT_EQ(head.target.path, "/a");
    EXPECT_EQ(head.headers.Find("x-empty"), "");
    EXPECT_EQ(head.headers.Find("X-TWO"), "a  b");
    EXPECT_EQ(head.headers.Find("X-Three"), std::nullopt);
    EXPECT_EQ(head.content_length, 12U);
    EXPECT_TRUE(head.keep_alive);
}

TEST(HeadParserTest, BytesMayComeOneByOne) {
    const std::string text = With("Transfer-Encoding: CHUNKED\r\nConnection: x, Close\r\n");
    HeadParser parser({});
    for (std::size_t i = 1; i < text.size(); ++i) {
        ASSERT_EQ(parser.Feed(text.substr(0, i)), ParseStatus::kNeedMore) << i;
    }
    ASSERT_EQ(parser.Feed(text), ParseStatus::kComplete);
    EXPECT_TRUE(parser.head().chunked);
    EXPECT_FALSE(parser.head().keep_alive);
    parser.Reset();
    EXPECT_EQ(parser.Feed(With("")), ParseStatus::kComplete);
    EXPECT_FALSE(parser.head().chunked);
}

TEST(HeadParserTest, RefusesWhatSmugglersSend) {
    using std::string_literals::operator""s;
    for (const std::string& fields : {
             "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"s,
             "Content-Length: 1\r\nContent-Length: 2\r\n"s,
             "Content-Length: 1\r\nContent-Length: 1\r\n"s,
             "Content-Length: 1, 1\r\n"s,
             "Content-Length: +1\r\n"s,
             "Content-Length: -1\r\n"s,
             "Content-Length: 0x1\r\n"s,
             "Content-Length: 1 2\r\n"s,
             "Content-Length:\r\n"s,
             "Content-Length: 18446744073709551616\r\n"s,
             "Transfer-Encoding: identity\r\n"s,
             "Transfer-Encoding: xchunked\r\n"s,
             "Transfer-Encoding: chunked, identity\r\n"s,
             "Transfer-Encoding: gzip, chunked\r\n"s,
             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"s,
             "Transfer-Encoding:\r\n"s,
             "Transfer-Encoding: \x0b"s
             "chunked\r\n"s,
             "Transfer-Encoding : chunked\r\n"s,
             " Folded: x\r\n"s,
             "X: a\r\n b\r\n"s,
             "X: a\r\n\tb\r\n"s,
             "X : a\r\n"s,
             "X\t: a\r\n"s,
             ": a\r\n"s,
             "X\r\n"s,
             "X: a\nY: b\r\n"s,
             "X: a\rY: b\r\n"s,
             "X: a\r\r\n"s,
             "X: a\0b\r\n"s,
             "X: a\x7f\r\n"s,
             "X\0: a\r\n"s,
             "X(: a\r\n"s,
             "\n"s,
             "Host: other\r\n"s,
         }) {
        EXPECT_EQ(StatusOf(With(fields)), 400) << fields;
    }
}

TEST(HeadParserTest, RefusesOddRequestLines) {
    for (const std::string_view line :
         {"GET", "GET /", "GET  HTTP/1.1", "GET /  HTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ",
          "GET / http/1.1", "GET / HTTP/1.10", "GET / HTTP/11", "G(T / HTTP/1.1",
          "GET\t/\tHTTP/1.1", "GET * HTTP/1.1", "GET / / HTTP/1.1"}) {
        EXPECT_EQ(StatusOf(std::string(line) + "\r\nHost: test\r\n\r\n"), 400) << line;
    }
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\nHost: test\n\n"), 400);
    EXPECT_EQ(StatusOf("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
    EXPECT_EQ(StatusOf("GET / HTTP/0.9\r\n\r\n"), 505);
    EXPECT_EQ(StatusOf("BREW / HTTP/1.1\r\nHost: test\r\n\r\n"), 501);
    EXPECT_EQ(StatusOf("get / HTTP/1.1\r\nHost: test\r\n\r\n"), 501);
    EXPECT_EQ(StatusOf("CONNECT test:80 HTTP/1.1\r\nHost: test\r\n\r\n"), 501);
    EXPECT_EQ(StatusOf("\r\nGET / HTTP/1.1\r\nHost: test\r\n\r\n"), 200);
    EXPECT_EQ(StatusOf("\r\n\r\nGET / HTTP/1.1\r\nHost: test\r\n\r\n"), 400);
}

TEST(HeadParserTest, OneHostIsNeeded) {
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400);
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"), 400);
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"), 200);
    EXPECT_EQ(StatusOf("GET http://a/ HTTP/1.1\r\nHost: A\r\n\r\n"), 200);
    EXPECT_EQ(StatusOf("GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n"), 400);
    EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n\r\n"), 200);
    EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
}

TEST(HeadParserTest, KeepsItsLimits) {
    const HeadParser::Limits limits{.bytes = 200, .fields = 3};
    EXPECT_EQ(StatusOf(With("A: 1\r\nB: 2\r\n"), limits), 200);
    EXPECT_EQ(StatusOf(With("A: 1\r\nB: 2\r\nC: 3\r\n"), limits), 431);
    EXPECT_EQ(StatusOf(With("A: " + std::string(200, 'x') + "\r\n"), limits), 431);
    EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: " + std::string(300, 'x'), limits), 431);
    EXPECT_EQ(StatusOf("GET /" + std::string(300, 'x'), limits), 414);
    const std::string exact = With("A: " + std::string(200 - With("A: \r\n").size(), 'x') + "\r\n");
    ASSERT_EQ(exact.size(), 200U);
    EXPECT_EQ(StatusOf(exact, limits), 200);
}

TEST(HeadParserTest, OldClientsCloseUnlessTheySayOtherwise) {
    HeadParser parser({});
    ASSERT_EQ(parser.Feed("GET / HTTP/1.0\r\n\r\n"), ParseStatus::kComplete);
    EXPECT_FALSE(parser.head().keep_alive);
    parser.Reset();
    ASSERT_EQ(parser.Feed("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
              ParseStatus::kComplete);
    EXPECT_TRUE(parser.head().keep_alive);
    EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(HeadParserTest, OneExpectationIsKnown) {
    HeadParser parser({});
    ASSERT_EQ(parser.Feed(With("Expect: 100-Continue\r\n")), ParseStatus::kComplete);
    EXPECT_TRUE(parser.head().expects_continue);
    EXPECT_EQ(StatusOf(With("Expect: tea\r\n")), 417);
}

}  // namespace
}  // namespace ksana::http_server

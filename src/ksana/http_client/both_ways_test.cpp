#include <gtest/gtest.h>

#include "ksana/http_client/client_fixture.hpp"

// The plain path and libcurl are equivalent: the target receives the same bytes, and the caller the
// same answer.

namespace ksana::http_client {
namespace {

class BothWaysTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(plain_.Start());
        ASSERT_TRUE(libcurl_.Start());
    }

    static CallAnswer Call(Client& client, CallRequest request) {
        Answers answers;
        client.Send(std::move(request), answers.Slot(0));
        return answers.Await(0);
    }

    SystemClock clock_;
    Client plain_{OptionsFor(Way::kPlain), clock_};
    Client libcurl_{OptionsFor(Way::kLibcurl), clock_};
};

TEST_F(BothWaysTest, TheTargetGetsTheSameBytes) {
    std::string got;
    const RawServer server([&got](RawPeer& peer) {
        while (const auto request = peer.Read()) {
            got = request->head + request->body;
            peer.Answer(204);
        }
    });
    std::vector<CallRequest> requests;
    for (const HttpMethod method : {HttpMethod::kGet, HttpMethod::kPost, HttpMethod::kPut,
                                    HttpMethod::kPatch, HttpMethod::kDelete, HttpMethod::kHead}) {
        requests.push_back({.method = method, .url = server.Url("/a")});
        requests.push_back({.method = method, .url = server.Url("/a?b=c"), .body = "some text"});
        requests.push_back(
            {.method = method, .url = server.Url("/"), .body = std::string(50'000, 'x')});
    }
    for (const auto* path :
         {"",           "/",      "//",           "//a//b", "/a/",     "/a?b=c&d=e",
          "/a?b=/../c", "/a%20b", "/a%zz",        "/a;b=c", "/a+b",    "/~a",
          "/a:b@c",     "/a?b?c", "/!$&'()*+,;=", "/a?",    "/a/../b", "/a/./b",
          "/a#b",       "?a=b",   "/a/%2e%2e/b",  "/a/..",  "/.a",     "/[a]",
          "/a|b",       "/{a}"}) {
        requests.push_back({.url = server.Url(path)});
    }
    for (const Header& header :
         std::vector<Header>{{"X-A", "b"},           {"X-A", ""},
                             {"X-A", "   "},         {"X-A", "  b  "},
                             {"X-A", "b\tc"},        {"X-A", "b;c"},
                             {"X-A", "\xC3\xA9"},    {"Accept", "text/html"},
                             {"accept", ""},         {"User-Agent", "me"},
                             {"User-Agent", ""},     {"Content-Type", "text/plain"},
                             {"Content-Type", ""},   {"Accept-Encoding", "gzip"},
                             {"Range", "bytes=0-1"}, {"Referer", "http://a/"},
                             {"Cookie", "a=b"},      {"Authorization", "Bearer x"},
                             {"TE", "trailers"},     {"Date", "today"}}) {
        for (const HttpMethod method : {HttpMethod::kGet, HttpMethod::kPost}) {
            requests.push_back({.method = method,
                                .url = server.Url(),
                                .headers = {{"X-First", "1"}, header, {"X-A", "last"}},
                                .body = method == HttpMethod::kPost ? "{}" : ""});
        }
    }
    for (const CallRequest& request : requests) {
        ASSERT_EQ(Call(libcurl_, request).status, 204) << request.url;
        const std::string expected = std::exchange(got, "");
        ASSERT_EQ(Call(plain_, request).status, 204) << request.url;
        EXPECT_EQ(got, expected);
    }
}

std::string Ok(std::string_view rest = "") {
    return std::string("HTTP/1.1 200 OK\r\n").append(rest);
}

std::vector<std::string> OddHeads() {
    const std::string ok = Ok();
    return {"",
            "HTT",
            "HTTP/1.1 20",
            "HTTP/1.1 200",
            "HTTP/1.1 200\r\n",
            ok,
            ok + "X: y\r\n",
            "S",
            "SSH-2.0\r\n",
            "HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/1.2 200 OK\r\n\r\n",
            "HTTP/2 200 OK\r\n\r\nabc",
            "HTTP/1.1 20x OK\r\n\r\n",
            "HTTP/1.1  200 OK\r\n\r\n",
            " HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 099 OK\r\n\r\n",
            "HTTP/1.1 999 OK\r\n\r\nq",
            "\r\nHTTP/1.1 200 OK\r\n\r\nq",
            "HTTP/1.1\t200 OK\r\n\r\nq",
            "HTTP/1.1 200\n\nq",
            "HTTP/1.0 200 OK\r\n\r\nabc",
            "HTTP/1.1 200 OK\nContent-Length: 2\n\nab",
            ok + "Content-Length: 10\r\n\r\nabc",
            ok + "Content-Length: +2\r\n\r\nabc",
            ok + "Content-Length: 2x\r\n\r\nabc",
            ok + "Content-Length: 2, 2\r\n\r\nabc",
            ok + "Content-Length: 0\r\n\r\nabc",
            ok + "Content-Length: 99999999999999999999\r\n\r\nabc",
            ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
            ok + "Content-Length: 3\r\nContent-Length: 2\r\n\r\nabc",
            ok + "Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nabc",
            ok + "Transfer-Encoding: chunked, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            ok + "Transfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            ok + "Transfer-Encoding:\r\n\r\nabc"};
}

std::vector<std::string> OddChunksAndHeaders() {
    const std::string ok = Ok();
    const std::string chunked = Ok("Transfer-Encoding: chunked\r\n\r\n");
    return {chunked,
            chunked + "zz\r\nabc\r\n",
            chunked + "5\r\nab",
            chunked + "3\r\nabcXX\r\n",
            chunked + "-1\r\n",
            chunked + "fffffffffffffffffff\r\nabc",
            chunked + "ffffffffffffffff\r\nabc",
            chunked + "7fffffffffffffff\r\nabc",
            chunked + "3\r\nabc\r\n",
            chunked + "3;x=y\r\nabc\r\n0\r\n\r\n",
            chunked + "3 \r\nabc\r\n0\r\n\r\n",
            chunked + " 3\r\nabc\r\n0\r\n\r\n",
            chunked + "3\nabc\n0\n\n",
            chunked + "3\r\nabc0\r\n\r\n",
            chunked + "3x\r\nabc\r\n0\r\n\r\n",
            chunked + "\r\n",
            chunked + "3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
            chunked + "3\r\nabc\r\n0\r\nX-T: 1\r\n",
            chunked + "3\r\nabc\r\n0\r\n",
            chunked + "3\r\nabc\r\n0",
            chunked + "0\r\nX-T: 1\nX-U: 2\n\n",
            chunked + "0;ext\r\n\r\n",
            chunked + "3\r\nabc\r\r\n0\r\n\r\n",
            chunked + "0\r\n: v\r\n\r\n",
            "HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\nabc",
            ok + "no colon\r\nContent-Length: 1\r\n\r\na",
            ok + ": v\r\nContent-Length: 1\r\n\r\na",
            ok + "X: a\r\n  folded\r\nContent-Length: 1\r\n\r\na",
            ok + "X: a\r\n  y: folded\r\nContent-Length: 1\r\n\r\na",
            ok + "X: a\rb\r\nContent-Length: 1\r\n\r\na",
            ok + "Content-Length : 1\r\n\r\nabc",
            "HTTP/1.1 100 C\r\n\r\n",
            "HTTP/1.1 100 C\r\n\r\n" + ok + "Content-Length: 1\r\n\r\na",
            "HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\n" + ok + "\r\na",
            "HTTP/1.1 100 C\r\n\r\njunk\r\n",
            ok + "Content-Length: 1\r\n\r\nabc",
            ok + "X: " + std::string(70'000, 'x') + "\r\n\r\n",
            "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 1\r\n\r\na",
            "HTTP/1.1 302 F\r\nLocation: /x\r\nContent-Length: 1\r\n\r\na",
            "HTTP/1.1 417 E\r\nContent-Length: 1\r\n\r\na"};
}

TEST_F(BothWaysTest, TheCallerGetsTheSameAnswer) {
    std::vector<std::string> all = OddHeads();
    std::ranges::copy(OddChunksAndHeaders(), std::back_inserter(all));
    for (const std::string& bytes : all) {
        const RawServer server([&bytes](RawPeer& peer) {
            if (peer.Read()) peer.Send(bytes);
        });
        const CallAnswer expected = Call(libcurl_, {.url = server.Url()});
        const CallAnswer answer = Call(plain_, {.url = server.Url()});
        EXPECT_EQ(answer.error, expected.error) << bytes;
        EXPECT_EQ(answer.error_text, expected.error_text) << bytes;
        EXPECT_EQ(answer.status, expected.status) << bytes;
        EXPECT_EQ(answer.headers, expected.headers) << bytes;
        EXPECT_EQ(answer.body, expected.body) << bytes;
        EXPECT_EQ(answer.body_truncated, expected.body_truncated) << bytes;
        EXPECT_EQ(answer.remote, expected.remote) << bytes;
        EXPECT_EQ(answer.http_version, expected.http_version) << bytes;
        EXPECT_EQ(answer.reused, expected.reused) << bytes;
    }
}

}  // namespace
}  // namespace ksana::http_client

#include "ksana/http_client/redirect.hpp"

#include <gtest/gtest.h>

#include "ksana/http_client/client_fixture.hpp"

namespace ksana::http_client {
namespace {

// Redirects "/to/URL" to the URL with `status`. Answers other requests with what it received.
RawServer::Script RedirectsWith(int status) {
    return [status](RawPeer& peer) {
        while (const auto request = peer.Read()) {
            const std::string line = request->Line();
            const std::size_t to = line.find("/to/");
            if (to == std::string::npos) {
                peer.Answer(200, line + "|" + request->body + "|" +
                                     request->Header("Authorization").value_or("none") + "|" +
                                     request->Header("X-Api-Key").value_or("none") + "|" +
                                     request->Header("X-Other").value_or("none"));
                continue;
            }
            const std::string url = line.substr(to + 4, line.rfind(' ') - to - 4);
            peer.Answer(status, "moved", "Location: " + url + "\r\n");
        }
    };
}

CallRequest WithSecrets(const std::string& url) {
    return {.method = HttpMethod::kPost,
            .url = url,
            .headers = {{"Authorization", "a"}, {"X-Api-Key", "k"}, {"X-Other", "o"}},
            .body = "body",
            .max_redirects = 3};
}

TEST_P(ClientTest, ARedirectIsAnAnswerUnlessAskedFor) {
    const RawServer server(RedirectsWith(302));
    const auto answer = Call({.url = server.Url("/to/http://127.0.0.1:1/")});
    EXPECT_EQ(answer.error, CallError::kNone);
    EXPECT_EQ(answer.status, 302);
    EXPECT_EQ(answer.body, "moved");
    EXPECT_EQ(*FindHeader(answer.headers, "location"), "http://127.0.0.1:1/");
}

TEST_P(ClientTest, ARedirectIsFollowedAsItsStatusAsks) {
    for (const int status : {301, 302, 303, 307, 308}) {
        const RawServer server(RedirectsWith(status));
        const auto answer = Call(WithSecrets(server.Url("/to/" + server.Url("/end"))));
        EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
        EXPECT_EQ(answer.redirects, 1);
        EXPECT_EQ(answer.body,
                  status >= 307 ? "POST /end HTTP/1.1|body|a|k|o" : "GET /end HTTP/1.1||a|k|o");
    }
}

TEST_P(ClientTest, CredentialsStayWithTheirOrigin) {
    const RawServer first(RedirectsWith(307));
    const RawServer second(RedirectsWith(307));
    const auto answer = Call(WithSecrets(first.Url("/to/" + second.Url("/end"))));
    EXPECT_EQ(answer.body, "POST /end HTTP/1.1|body|none|none|o");
}

TEST_P(ClientTest, ARedirectLoopEnds) {
    const RawServer server([](RawPeer& peer) {
        while (peer.Read()) peer.Answer(302, "", "Location: /again\r\n");
    });
    const auto answer = Call({.url = server.Url(), .max_redirects = 5});
    EXPECT_EQ(answer.error, CallError::kTooManyRedirects);
    EXPECT_EQ(answer.error_text, "more than 5 redirects");
    EXPECT_EQ(answer.redirects, 5);
    EXPECT_EQ(answer.status, 302);
}

TEST_P(ClientTest, TheTimeoutIsThatOfAllRedirectsTogether) {
    // Redirects forever; each hop takes 20 ms.
    const RawServer server([](RawPeer& peer) {
        while (peer.Read() && !peer.AwaitClose(20)) {
            peer.Answer(302, "", "Location: /again\r\n");
        }
    });
    const auto answer = Call({.url = server.Url(),
                              .timeout = std::chrono::milliseconds(100),
                              .max_redirects = 1'000'000});
    EXPECT_EQ(answer.error, CallError::kTimeout);
}

TEST_P(ClientTest, RedirectsDoNotLeadOutOfHttpOrToForbiddenAddresses) {
    const RawServer server(RedirectsWith(302));
    const auto metadata =
        Call({.url = server.Url("/to/http://169.254.169.254/latest"), .max_redirects = 3});
    EXPECT_EQ(metadata.error, CallError::kEgressRefused) << metadata.error_text;
    EXPECT_EQ(metadata.error_text,
              "169.254.169.254:80 is a metadata service: not an allowed target");
    for (const auto* url : {"file:///etc/passwd", "ftp://127.0.0.1/", "http://u:p@127.0.0.1/"}) {
        const auto answer =
            Call({.url = server.Url(std::string("/to/") + url), .max_redirects = 3});
        EXPECT_NE(answer.error, CallError::kNone) << url;
    }
}

TEST(Redirect, OriginsAreSchemeHostAndPort) {
    EXPECT_TRUE(SameOrigin("http://a/x", "http://A:80/y"));
    EXPECT_TRUE(SameOrigin("https://a/x", "https://a:443/"));
    EXPECT_FALSE(SameOrigin("http://a/", "https://a/"));
    EXPECT_FALSE(SameOrigin("http://a/", "http://a:81/"));
    EXPECT_FALSE(SameOrigin("http://a/", "http://b/"));
    EXPECT_FALSE(SameOrigin("", ""));
}

}  // namespace
}  // namespace ksana::http_client

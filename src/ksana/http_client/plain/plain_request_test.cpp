#include "ksana/http_client/plain/plain_request.hpp"

#include <gtest/gtest.h>

namespace ksana::http_client {
namespace {

std::string BytesOf(const CallRequest& request) {
    const auto plain = PlainRequestOf(request);
    return plain ? plain->bytes : "";
}

TEST(PlainRequest, IsHeadAndBodyInOne) {
    EXPECT_EQ(BytesOf({.url = "http://192.0.2.1/"}),
              "GET / HTTP/1.1\r\nHost: 192.0.2.1\r\nAccept: */*\r\n\r\n");
    EXPECT_EQ(BytesOf({.method = HttpMethod::kPost,
                       .url = "http://192.0.2.1:8080/a/b?c=d%20e",
                       .headers = {{"X-A", "1"}, {"X-Blank", " "}, {"accept", "text/plain"}},
                       .body = "body"}),
              "POST /a/b?c=d%20e HTTP/1.1\r\nHost: 192.0.2.1:8080\r\nX-A: 1\r\nX-Blank:\r\n"
              "accept: text/plain\r\nContent-Length: 4\r\n\r\nbody");
    EXPECT_EQ(BytesOf({.method = HttpMethod::kPut, .url = "http://example.org"}),
              "PUT / HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(BytesOf({.method = HttpMethod::kDelete, .url = "http://[::1]:80/"}),
              "DELETE / HTTP/1.1\r\nHost: [::1]\r\nAccept: */*\r\n\r\n");
    EXPECT_EQ(BytesOf({.method = HttpMethod::kHead, .url = "http://[::1]:81/", .body = "x"}),
              "HEAD / HTTP/1.1\r\nHost: [::1]:81\r\nAccept: */*\r\n\r\n");
}

TEST(PlainRequest, ALongBodyStaysWhereItIs) {
    const CallRequest request{
        .method = HttpMethod::kPost, .url = "http://192.0.2.1/", .body = std::string(100'000, 'x')};
    const auto plain = PlainRequestOf(request);
    ASSERT_TRUE(plain);
    EXPECT_FALSE(plain->body_inside);
    EXPECT_TRUE(plain->bytes.ends_with("Content-Length: 100000\r\n\r\n"));
}

TEST(PlainRequest, KnowsWhereItGoes) {
    const auto to_address = PlainRequestOf({.url = "http://192.0.2.1:8080/"});
    ASSERT_TRUE(to_address);
    EXPECT_EQ(to_address->address, ParseIpAddress("192.0.2.1"));
    EXPECT_EQ(to_address->port, 8080);
    EXPECT_EQ(to_address->host(), "192.0.2.1:8080");
    const auto to_name = PlainRequestOf({.url = "http://some-host.example.org:80/"});
    ASSERT_TRUE(to_name);
    EXPECT_EQ(to_name->address, std::nullopt);
    EXPECT_EQ(to_name->port, 80);
    EXPECT_EQ(to_name->host(), "some-host.example.org");
    EXPECT_TRUE(PlainRequestOf({.url = "http://localhost/"}));
    EXPECT_TRUE(PlainRequestOf({.url = "http://my_service:1/"}));
}

TEST(PlainRequest, WhatLibcurlWouldWriteOtherwiseIsLeftToIt) {
    EXPECT_FALSE(PlainRequestOf({.url = "http://192.0.2.1/", .max_redirects = 1}));
    for (const auto* url : {"",
                            "x",
                            "http://",
                            "http:///",
                            "https://192.0.2.1/",
                            "HTTP://192.0.2.1/",
                            "ftp://a/",
                            "http:/a",
                            "//a/",
                            "http://a b/",
                            "http://a/ b",
                            "http://a/\r\nX: y",
                            "http://a/\t",
                            "http://a/../b",
                            "http://a/./b",
                            "http://a/.",
                            "http://a/%2e%2e/b",
                            "http://a/%2E/",
                            "http://a/?",
                            "http://a?b",
                            "http://a#b",
                            "http://a/#b",
                            "http://a/\xC3\xA9",
                            "http://\xC3\xA9/",
                            "http://A/",
                            "http://a:/",
                            "http://a:0/",
                            "http://a:080/",
                            "http://a:65536/",
                            "http://a:x/",
                            "http://a:-1/",
                            "http://a:1:2/",
                            "http://u@a/",
                            "http://127.1/",
                            "http://2130706433/",
                            "http://0x7f000001/",
                            "http://0x7f.1/",
                            "http://017700000001/",
                            "http://127.0.0.01/",
                            "http://127.0.0.256/",
                            "http://1.2.3/",
                            "http://1.2.3.4.5/",
                            "http://1.2.3.4./",
                            "http://a./",
                            "http://a..b./",
                            "http://.",
                            "http://[::1/",
                            "http://::1/",
                            "http://[0::1]/",
                            "http://[::1%25lo]/",
                            "http://[::1]x/",
                            "http://[127.0.0.1]/",
                            "http://[]/",
                            "http://a%41/",
                            "http://a/{b}",
                            "http://a/<b>",
                            "http://a/\"b\"",
                            "http://a/b\\c",
                            "http://a\\b/",
                            "http://a/b|c",
                            "http://a/b^c"}) {
        EXPECT_FALSE(PlainRequestOf({.url = url})) << url;
    }
}

}  // namespace
}  // namespace ksana::http_client

#include "ksana/model/http_url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ksana::model {
namespace {

TEST(CheckHttpUrl, AcceptsWhatAJobMayCall) {
    for (const char* url :
         {"http://localhost", "https://example.com/ping", "http://10.0.0.1:8080/a?b=c#d",
          "HTTP://EXAMPLE.com", "http://[::1]:7100/x", "http://[fe80::1]",
          "http://host_name/jobs/{{job_id}}?t={{scheduled_at}}", "https://x-y.example.:443/"}) {
        EXPECT_EQ(CheckHttpUrl(url).value_or(""), "") << url;
    }
}

// K-20
TEST(CheckHttpUrl, RefusesTheRestAndSaysWhy) {
    for (const char* url : {"",
                            "example.com",
                            "ftp://example.com",
                            "http://",
                            "http:///x",
                            "http://:80/",
                            "http://user:pw@host/",
                            "http://host:0/",
                            "http://host:65536/",
                            "http://host:abc/",
                            "http://host:/",
                            "http://ho st/",
                            "http://host/\r\nX: y",
                            "http://host\\@evil/",
                            "http://{{host}}/",
                            "http://[::1",
                            "http://[zz]/",
                            "http://a..b/",
                            "http://.a/",
                            "javascript:alert(1)",
                            "file:///etc/passwd",
                            "http://-x/",
                            "//host/"}) {
        EXPECT_TRUE(CheckHttpUrl(url)) << url;
    }
    EXPECT_TRUE(CheckHttpUrl("http://h/" + std::string(10'000, 'a')));
    EXPECT_TRUE(CheckHttpUrl(std::string("http://h/\0", 10)));
}

TEST(HttpUrl, TheHostWithItsPort) {
    EXPECT_EQ(HostAndPortOf("http://Example.COM/a?b"), "example.com:80");
    EXPECT_EQ(HostAndPortOf("HTTPS://example.com"), "example.com:443");
    EXPECT_EQ(HostAndPortOf("http://example.com:8080#x"), "example.com:8080");
    EXPECT_EQ(HostAndPortOf("https://[::1]/"), "[::1]:443");
    EXPECT_EQ(HostAndPortOf("http://[::1]:8/"), "[::1]:8");
    EXPECT_EQ(HostAndPortOf("ftp://example.com"), "");
    EXPECT_EQ(HostAndPortOf(""), "");
    EXPECT_TRUE(IsHost("example.com"));
    EXPECT_TRUE(IsHost("[::1]:80"));
    EXPECT_FALSE(IsHost("example.com:0"));
    EXPECT_FALSE(IsHost("a b"));
    EXPECT_FALSE(IsHost(""));
}

TEST(Headers, NamesAndValuesAreChecked) {
    EXPECT_TRUE(IsHeaderName("X-Token"));
    EXPECT_FALSE(IsHeaderName("X Token"));
    EXPECT_FALSE(IsHeaderName(""));
    EXPECT_FALSE(IsHeaderName("X:"));
    EXPECT_TRUE(IsHeaderValue("a\tb \xC3\xBC"));
    EXPECT_FALSE(IsHeaderValue("a\r\nb"));
    EXPECT_TRUE(IsReservedHeader("Content-LENGTH"));
    EXPECT_FALSE(IsReservedHeader("Content-Type"));
}

}  // namespace
}  // namespace ksana::model

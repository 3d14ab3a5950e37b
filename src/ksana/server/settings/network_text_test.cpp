#include "ksana/server/settings/network_text.hpp"

#include <gtest/gtest.h>

namespace ksana::server {
namespace {

TEST(NetworkText, AddressesToListenOn) {
    for (const char* good : {"127.0.0.1", "0.0.0.0", "::", "::1", "fe80::1", "localhost"}) {
        EXPECT_FALSE(FaultOfAddress(good)) << good;
    }
    for (const char* bad : {"", "example.org", "127.1", "1.2.3.4:80", "[::1]", "256.0.0.1"}) {
        EXPECT_TRUE(FaultOfAddress(bad)) << bad;
    }
}

TEST(NetworkText, Loopback) {
    for (const char* yes : {"127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "localhost"}) {
        EXPECT_TRUE(IsLoopback(yes)) << yes;
    }
    for (const char* no : {"0.0.0.0", "128.0.0.1", "::", "::2", "10.0.0.1", "localhost.", ""}) {
        EXPECT_FALSE(IsLoopback(no)) << no;
    }
}

TEST(NetworkText, RangesOfAddresses) {
    for (const char* good : {"10.0.0.0/8", "0.0.0.0/0", "192.168.1.7/32", "fd00::/8", "::1/128"}) {
        EXPECT_FALSE(FaultOfCidr(good)) << good;
    }
    for (const char* bad : {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/8x",
                            "10.0.0.0/-1", "10/8", "a/8", "10.0.0.7/8", "fd00::1/8"}) {
        EXPECT_TRUE(FaultOfCidr(bad)) << bad;
    }
}

}  // namespace
}  // namespace ksana::server

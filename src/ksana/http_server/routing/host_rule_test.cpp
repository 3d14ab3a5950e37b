#include "ksana/http_server/routing/host_rule.hpp"

#include <gtest/gtest.h>

namespace ksana::http_server {
namespace {

TEST(HostRuleTest, LoopbackIsAlwaysAccepted) {
    const HostRule rule({});
    for (const char* host :
         {"localhost", "localhost:7100", "LocalHost:1", "127.0.0.1", "127.0.0.1:7100", "127.9.9.9",
          "[::1]", "[::1]:7100", "::1", "[::ffff:127.0.0.1]:80", "[0:0:0:0:0:0:0:1]"}) {
        EXPECT_TRUE(rule.Accepts(host)) << host;
    }
}

TEST(HostRuleTest, AnythingElseIsForeign) {
    const HostRule rule({});
    for (const char* host : {"",
                             ":",
                             "[",
                             "[]",
                             "[]:7100",
                             "evil",
                             "evil.example:7100",
                             "localhost.evil.example",
                             "127.0.0.1.evil.example",
                             "127.1",
                             "2130706433",
                             "0x7f.0.0.1",
                             "10.0.0.5",
                             "0.0.0.0",
                             "[::]",
                             "[::2]",
                             "128.0.0.1",
                             "127.0.0.1:7100:evil",
                             "evil@localhost",
                             "localhost evil",
                             "xlocalhost",
                             "localhost.",
                             "evil:localhost"}) {
        EXPECT_FALSE(rule.Accepts(host)) << host;
    }
}

TEST(HostRuleTest, NamesAndTheAddressOfTheServer) {
    const HostRule rule({"Ksana.Example", "10.0.0.5", "fd00:0::5"});
    for (const char* host : {"ksana.example", "KSANA.example:443", "10.0.0.5", "10.0.0.5:7100",
                             "[fd00::5]:7100", "[fd00:0:0::5]"}) {
        EXPECT_TRUE(rule.Accepts(host)) << host;
    }
    for (const char* host : {"a.ksana.example", "ksana.example.evil", "10.0.0.6", "[fd00::6]"}) {
        EXPECT_FALSE(rule.Accepts(host)) << host;
    }
}

TEST(HostRuleTest, AServerOnEveryAddressAcceptsAddressesButNoNames) {
    const HostRule rule({"0.0.0.0"}, true);
    EXPECT_TRUE(rule.Accepts("10.0.0.6:7100"));
    EXPECT_TRUE(rule.Accepts("[fd00::6]:7100"));
    EXPECT_FALSE(rule.Accepts("evil.example"));
    EXPECT_FALSE(rule.Accepts("10.0.0.6.evil.example"));
}

}  // namespace
}  // namespace ksana::http_server

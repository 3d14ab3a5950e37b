#include "ksana/http_client/egress.hpp"

#include <gtest/gtest.h>

namespace ksana::http_client {
namespace {

IpAddress Address(std::string_view text) {
    const auto address = ParseIpAddress(text);
    EXPECT_TRUE(address) << text;
    return address.value_or(IpAddress{});
}

bool Refused(std::string_view text, EgressPolicy policy) {
    return RefusalOf(Address(text), {.policy = policy}).has_value();
}

// Addresses at both ends of the refused ranges.
constexpr std::array kRefusedAlways = {
    "0.0.0.0", "0.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255",
    "100.100.100.200", "192.0.0.192", "168.63.129.16", "224.0.0.0", "239.255.255.255",
    "255.255.255.255", "::", "fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff00::1",
    "ff02::1", "fd00:ec2::254", "fd20:ce::254",
    // Embedded in IPv6 forms.
    "::ffff:169.254.169.254", "::169.254.169.254", "::ffff:0:169.254.169.254",
    "64:ff9b::169.254.169.254", "64:ff9b:1::169.254.169.254", "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
    "2001:0:102:304:0:0:5601:5601",  // Teredo client, inverted: 169.254.169.254
};

constexpr std::array kRefusedToThePublic = {
    "127.0.0.1",
    "127.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.168.0.0",
    "192.168.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "198.18.0.0",
    "198.19.255.255",
    "240.0.0.0",
    "255.255.255.254",
    "::1",
    "fc00::1",
    "fdff:ffff::1",
    "fec0::1",
    "100::1",
    "2001:10::1",
    "2001:1ff::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "4000::1",
    "::2",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::1",
    "2002:c0a8:1::1",
};

constexpr std::array kPublic = {
    "1.1.1.1",        "8.8.8.8",          "9.255.255.255",   "11.0.0.0",          "100.63.255.255",
    "100.128.0.0",    "126.255.255.255",  "128.0.0.0",       "169.253.255.255",   "169.255.0.0",
    "172.15.255.255", "172.32.0.0",       "192.167.255.255", "192.169.0.0",       "198.17.255.255",
    "198.20.0.0",     "223.255.255.255",  "2606:4700::1111", "2a00:1450:4001::1", "2001:200::1",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
};

TEST(Egress, SomeAddressesAreRefusedByEveryPolicy) {
    for (const auto* text : kRefusedAlways) {
        EXPECT_TRUE(Refused(text, EgressPolicy::kDefault)) << text;
        EXPECT_TRUE(Refused(text, EgressPolicy::kPublic)) << text;
    }
}

TEST(Egress, LoopbackPrivateAndSpecialAddressesAreRefusedToThePublicOnly) {
    for (const auto* text : kRefusedToThePublic) {
        EXPECT_FALSE(Refused(text, EgressPolicy::kDefault)) << text;
        EXPECT_TRUE(Refused(text, EgressPolicy::kPublic)) << text;
    }
}

TEST(Egress, PublicAddressesAreFine) {
    for (const auto* text : kPublic) {
        EXPECT_FALSE(Refused(text, EgressPolicy::kDefault)) << text;
        EXPECT_FALSE(Refused(text, EgressPolicy::kPublic)) << text;
    }
}

TEST(Egress, TheRefusalNamesTheRange) {
    const EgressRules rules{.policy = EgressPolicy::kPublic};
    EXPECT_EQ(RefusalOf(Address("169.254.169.254"), rules), "a metadata service");
    EXPECT_EQ(RefusalOf(Address("169.254.1.1"), rules), "link-local");
    EXPECT_EQ(RefusalOf(Address("::ffff:127.0.0.1"), rules), "loopback");
    EXPECT_EQ(RefusalOf(Address("10.1.2.3"), rules), "private");
    EXPECT_EQ(RefusalOf(Address("1.2.3.4"), rules), std::nullopt);
}

TEST(Egress, WhatTheListAllowsIsAllowedInEveryForm) {
    const EgressRules rules{
        .policy = EgressPolicy::kPublic,
        .allow = {ParseCidr("10.1.0.0/16").value(), ParseCidr("169.254.169.254").value(),
                  ParseCidr("fd12::/16").value()}};
    for (const auto* text :
         {"10.1.2.3", "::ffff:10.1.2.3", "169.254.169.254", "fd12:3456::1", "64:ff9b::10.1.2.3"}) {
        EXPECT_EQ(RefusalOf(Address(text), rules), std::nullopt) << text;
    }
    for (const auto* text : {"10.2.0.0", "169.254.169.253", "fd13::1", "::ffff:10.2.0.1"}) {
        EXPECT_TRUE(RefusalOf(Address(text), rules)) << text;
    }
}

TEST(Egress, RangesAreReadStrictly) {
    EXPECT_EQ(ParseCidr("10.0.0.0/8").value().bits, 8);
    EXPECT_EQ(ParseCidr("::1").value().bits, 128);
    for (const auto* text : {"", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10/8",
                             "10.0.0.0/8x", "fe80::1%lo", "host"}) {
        EXPECT_FALSE(ParseCidr(text)) << text;
    }
    EXPECT_TRUE(ParseCidr("0.0.0.0/0").value().Holds(Address("255.1.2.3")));
    EXPECT_FALSE(ParseCidr("0.0.0.0/0").value().Holds(Address("::1")));
    EXPECT_FALSE(ParseIpAddress(std::string_view("1.2.3.4\0x", 9)));
    EXPECT_EQ(Address("2001:db8::1").ToString(), "2001:db8::1");
}

}  // namespace
}  // namespace ksana::http_client

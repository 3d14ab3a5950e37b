#include "ksana/broker/broker_url.hpp"

#include <gtest/gtest.h>

#include <array>

// D-01: how a RabbitMQ is named.

namespace ksana::broker {
namespace {

TEST(BrokerUrl, AHostAloneHasTheDefaultsOfTheProtocol) {
    const auto url = ParseBrokerUrl("amqp://broker.example");
    ASSERT_TRUE(url) << url.error().message;
    EXPECT_EQ(*url, (BrokerUrl{.host = "broker.example"}));
    EXPECT_EQ(url->user, "guest");
    EXPECT_EQ(url->vhost, "/");
    EXPECT_EQ(url->heartbeat, std::chrono::seconds(10));
    EXPECT_EQ(url->name(), "amqp://guest@broker.example:5672");
    const auto tls = ParseBrokerUrl("amqps://broker.example/");
    ASSERT_TRUE(tls);
    EXPECT_EQ(tls->port, 5671);
    EXPECT_TRUE(tls->tls);
    EXPECT_EQ(tls->vhost, "/");
    EXPECT_EQ(tls->name(), "amqps://guest@broker.example:5671");
}

TEST(BrokerUrl, EveryPartIsReadAndDecoded) {
    const auto url = ParseBrokerUrl(
        "amqps://us%40er:p%3Ass%2f@[::1]:5999/v%2Fhost?heartbeat=30&ca_file=%2Fa%20b.pem&"
        "cert_file=c.pem&key_file=k.pem&server_name=rabbit");
    ASSERT_TRUE(url) << url.error().message;
    EXPECT_EQ(*url, (BrokerUrl{.host = "::1",
                               .port = 5999,
                               .tls = true,
                               .user = "us@er",
                               .password = "p:ss/",
                               .vhost = "v/host",
                               .heartbeat = std::chrono::seconds(30),
                               .ca_file = "/a b.pem",
                               .cert_file = "c.pem",
                               .key_file = "k.pem",
                               .server_name = "rabbit"}));
    EXPECT_EQ(url->name(), "amqps://us%40er@[::1]:5999/v%2Fhost");
    const auto short_one = ParseBrokerUrl("amqp://user@h?heartbeat=1m30s");
    ASSERT_TRUE(short_one);
    EXPECT_EQ(short_one->heartbeat, std::chrono::seconds(90));
    EXPECT_EQ(short_one->password, "");
}

TEST(BrokerUrl, AnErrorNamesThePartAndNotThePassword) {
    struct Case {
        const char* url;
        const char* part;
    };
    constexpr std::array<Case, 21> kCases = {{
        {"http://h", "write amqp://"},
        {"", "write amqp://"},
        {"amqp://", "host is missing"},
        {"amqp://u:secret@", "host is missing"},
        {"amqp://:secret@h", "user name is missing"},
        {"amqp://u:secret%@h", "the password has a %"},
        {"amqp://u%zz:secret@h", "the user name has a %"},
        {"amqp://u:secret%00@h", "the password has a zero byte"},
        {"amqp://u:secret/x@h", "write @ / ?"},
        {"amqp://u:secret?x@h", "write ? as %3F"},
        {"amqp://u:secret@[::1", "no ]"},
        {"amqp://u:secret@h:0", "port"},
        {"amqp://u:secret@h:70000", "port"},
        {"amqp://u:secret@h:12x", "port"},
        {"amqp://u:secret@h h", "the host has letters"},
        {"amqp://u:secret@h/a/b", "virtual host"},
        {"amqp://u:secret@h?heartbeat=0", "heartbeat is"},
        {"amqp://u:secret@h?heartbeat=1500ms", "heartbeat is"},
        {"amqp://u:secret@h?ca_file=x", "ca_file needs TLS"},
        {"amqps://u:secret@h?cert_file=x", "go together"},
        {"amqp://u:secret@h?heartbaet=5", "did you mean heartbeat?"},
    }};
    for (const Case& one : kCases) {
        const auto url = ParseBrokerUrl(one.url);
        ASSERT_FALSE(url) << one.url;
        EXPECT_EQ(url.error().code, Code::kInvalidArgument);
        EXPECT_NE(url.error().message.find(one.part), std::string::npos) << url.error().message;
        EXPECT_EQ(url.error().message.find("secret"), std::string::npos) << url.error().message;
    }
}

}  // namespace
}  // namespace ksana::broker

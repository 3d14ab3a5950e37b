#include <gtest/gtest.h>

#include "ksana/http_client/client_fixture.hpp"

// The egress guard in the client: it does not even connect to a forbidden address.

namespace ksana::http_client {
namespace {

std::shared_ptr<const EgressRules> PublicOnly() {
    return std::make_shared<EgressRules>(EgressRules{.policy = EgressPolicy::kPublic});
}

TEST_P(ClientTest, EverySpellingOfAForbiddenAddressIsRefused) {
    const RawServer server([](RawPeer& peer) { peer.Read(); });
    const std::string port = std::to_string(server.port());
    for (const std::string host :
         {"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "localhost",
          "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "10.0.0.1", "0.0.0.0", "[::]",
          "[fe80::1]", "[64:ff9b::7f00:1]", "169.254.169.254", "2852039166"}) {
        const auto answer =
            Call({.url = "http://" + host + ":" + port + "/", .egress = PublicOnly()});
        EXPECT_EQ(answer.error, CallError::kEgressRefused) << host << ": " << answer.error_text;
    }
    EXPECT_EQ(server.accepted(), 0) << "not even a connection";
    const auto statistics = client_.statistics();
    EXPECT_EQ(statistics.by_error[static_cast<std::size_t>(CallError::kEgressRefused)], 17U);
}

TEST_P(ClientTest, TheDefaultRulesRefuseMetadataAndAllowLoopback) {
    const RawServer server([](RawPeer& peer) {
        while (peer.Read()) peer.Answer(204);
    });
    EXPECT_EQ(Call({.url = server.Url()}).status, 204);
    for (const auto* url : {"http://169.254.169.254/", "http://[fd00:ec2::254]/",
                            "http://100.100.100.200/", "http://0.0.0.0/", "http://0/"}) {
        EXPECT_EQ(Call({.url = url}).error, CallError::kEgressRefused) << url;
    }
}

TEST_P(ClientTest, AConnectionMadeUnderOtherRulesIsNotUsed) {
    const RawServer server([](RawPeer& peer) {
        while (peer.Read()) peer.Answer(204);
    });
    EXPECT_EQ(Call({.url = server.Url()}).status, 204);
    const auto answer = Call({.url = server.Url(), .egress = PublicOnly()});
    EXPECT_EQ(answer.error, CallError::kEgressRefused) << answer.error_text;
    EXPECT_EQ(answer.status, 0);
}

TEST_P(ClientTest, TheListOfAllowedRangesWins) {
    const RawServer server([](RawPeer& peer) {
        while (peer.Read()) peer.Answer(204);
    });
    const EgressRules rules{.policy = EgressPolicy::kPublic,
                            .allow = {ParseCidr("127.0.0.0/8").value()}};
    const auto answer = Call({.url = server.Url(), .egress = std::make_shared<EgressRules>(rules)});
    EXPECT_EQ(answer.status, 204) << answer.error_text;
}

}  // namespace
}  // namespace ksana::http_client

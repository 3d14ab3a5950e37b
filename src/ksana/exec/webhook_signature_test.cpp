#include "ksana/exec/webhook_signature.hpp"

#include <gtest/gtest.h>

namespace ksana::exec {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kId = "msg_p5jXN8AQM9LWM0D4loKWxJek";
constexpr std::string_view kBody = R"({"test": 2432232314})";
const TimePoint kAt{std::chrono::seconds(1614265330) + std::chrono::milliseconds(999)};

Headers Signed(const std::vector<std::string>& secrets, std::string_view access_key = {}) {
    return WebhookHeaders({.id = kId,
                           .at = kAt,
                           .body = kBody,
                           .access_key = access_key,
                           .secrets = secrets,
                           .run_id = "run-1",
                           .attempt = 2,
                           .scheduled_at = "2026-03-01T08:00:00Z"});
}

// The expected values were computed by Python's hmac.
TEST(WebhookSignatureTest, SignsAsStandardWebhooksDo) {  // T-11
    EXPECT_EQ(Signed({"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, "key-1"),
              (Headers{{"webhook-id", std::string(kId)},
                       {"webhook-timestamp", "1614265330"},
                       {"webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
                       {"Ksana-Signature", "v1,qvEWgQTQZOEDGoTxP3qzQXDmlyS3QTGJHZFKEziasHg="},
                       {"Ksana-Access-Key", "key-1"}}));
}

TEST(WebhookSignatureTest, APlainSecretIsTheKeyItself) {
    EXPECT_EQ(Signed({"plain secret"}).at(2).second,
              "v1,gke7k785FD6W2FuaDcrvG3sQcmFE9YVaaAmarK4oi68=");
}

TEST(WebhookSignatureTest, BothSecretsSignWhileOneReplacesTheOther) {
    EXPECT_EQ(Signed({"plain secret", "whsec_QQD//g=="}).at(2).second,
              "v1,gke7k785FD6W2FuaDcrvG3sQcmFE9YVaaAmarK4oi68= "
              "v1,g8Pt4CUMi4Ri5/Q49Bs4imeECbeeqqrNeLqQ00SnhAo=");
}

TEST(WebhookSignatureTest, RunAttemptAndScheduledTimeAreSignedToo) {
    EXPECT_EQ(Signed({"plain secret", "whsec_QQD//g=="}).at(3).second,
              "v1,cOpdK+p8Dq+L6IBa/dElEdVLzguwo05NPvyiBEUWMFg= "
              "v1,AWLfktjeBRO962Npxdw6C1YA2GtcouizyZ2Jv0bCa4g=");
}

TEST(WebhookSignatureTest, WhatOnlyLooksLikeBase64IsTheKeyItself) {
    EXPECT_NE(Signed({"whsec_!!!!"}).at(2).second, Signed({"whsec_"}).at(2).second);
}

TEST(WebhookSignatureTest, WithoutASecretNothingIsSigned) {
    EXPECT_EQ(Signed({}, "key-1").size(), 2U);
}

}  // namespace
}  // namespace ksana::exec

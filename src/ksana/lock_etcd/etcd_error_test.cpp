#include "ksana/lock_etcd/etcd_error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ksana::lock_etcd {
namespace {

http_client::CallAnswer Answer(int status, std::string body) {
    http_client::CallAnswer answer;
    answer.status = status;
    answer.body = std::move(body);
    return answer;
}

Error FaultOfAnswer(int status, std::string body) {
    const auto read = ReadEtcdAnswer(Answer(status, std::move(body)), "etcd h:1");
    return read ? Error(Code::kInternal, "no error") : read.error();
}

TEST(EtcdErrorTest, TheCodeFollowsTheServer) {
    const struct {
        int status;
        const char* body;
        Code code;
    } cases[] = {
        {404, R"({"error":"etcdserver: requested lease not found","code":5})", Code::kNotFound},
        {503, R"({"error":"etcdserver: no leader","code":14})", Code::kUnavailable},
        {503, R"({"error":"etcdserver: request timed out","code":14})", Code::kUnavailable},
        {403, R"({"error":"etcdserver: permission denied","code":7})", Code::kPermissionDenied},
        {401, R"({"error":"etcdserver: invalid auth token","code":16})", Code::kUnauthenticated},
        {400, R"({"error":"etcdserver: user name is empty","code":3})", Code::kUnauthenticated},
        {400,
         R"({"error":"etcdserver: authentication failed, invalid user ID or password","code":3})",
         Code::kUnauthenticated},
        {429, R"({"error":"etcdserver: too many requests","code":8})", Code::kExhausted},
        {400, R"({"error":"etcdserver: too large lease TTL","code":11})", Code::kInvalidArgument},
        {500, R"({"error":"etcdserver: corrupt cluster","code":15})", Code::kDataLoss},
        {200, R"({"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader"}})",
         Code::kUnavailable},
        {404, "Not Found\n", Code::kUnavailable},
        {502, "<html>bad gateway</html>", Code::kUnavailable},
        {200, "[]", Code::kUnavailable},
        {500, "{}", Code::kUnavailable},
    };
    for (const auto& one : cases) {
        const Error error = FaultOfAnswer(one.status, one.body);
        EXPECT_EQ(error.code, one.code) << one.body;
        EXPECT_EQ(error.message.rfind("etcd h:1: ", 0), 0U) << error.message;
    }
    EXPECT_EQ(FaultOfAnswer(503, R"({"error":"etcdserver: no leader","code":14})").message,
              "etcd h:1: etcdserver: no leader");
}

TEST(EtcdErrorTest, NoAnswerIsUnavailable) {
    http_client::CallAnswer answer;
    answer.error = http_client::CallError::kTimeout;
    answer.error_text = "no answer in time";
    const auto read = ReadEtcdAnswer(answer, "etcd h:1");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kUnavailable);
    EXPECT_EQ(read.error().message, "etcd h:1: no answer in time");
}

TEST(EtcdErrorTest, NumbersComeAsTextsOrNotAtAll) {
    const auto json = ReadEtcdAnswer(
        Answer(200, R"({"a":"9223372036854775807","b":12,"c":"x","d":"-3","e":"1 "})"), "etcd");
    ASSERT_TRUE(json);
    EXPECT_EQ(IntegerAt(*json, "/a"), 9223372036854775807);
    EXPECT_EQ(IntegerAt(*json, "/b"), 12);
    EXPECT_EQ(IntegerAt(*json, "/c"), 0);
    EXPECT_EQ(IntegerAt(*json, "/d"), -3);
    EXPECT_EQ(IntegerAt(*json, "/e"), 0);
    EXPECT_EQ(IntegerAt(*json, "/none"), 0);
}

TEST(EtcdErrorTest, TokensAreRenewedWhenTheServerSaysSo) {
    EXPECT_TRUE(WantsNewToken(Error(Code::kUnauthenticated, "etcdserver: invalid auth token")));
    EXPECT_TRUE(
        WantsNewToken(Error(Code::kInvalidArgument, "etcdserver: revision of auth store is old")));
    EXPECT_FALSE(WantsNewToken(Error(Code::kPermissionDenied, "etcdserver: permission denied")));
    EXPECT_TRUE(
        AuthenticationIsOff(Error(Code::kInternal, "etcdserver: authentication is not enabled")));
}

}  // namespace
}  // namespace ksana::lock_etcd

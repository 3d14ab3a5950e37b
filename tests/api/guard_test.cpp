#include "ksana/api/edge/guard.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ksana::api {
namespace {

using http_server::Permission;
using http_server::Request;

constexpr std::string_view kToken = "0123456789abcdef";
constexpr std::array<Permission, 4> kAll = {Permission::kRead, Permission::kOperate,
                                            Permission::kWrite, Permission::kAdmin};

Request With(std::string_view name, std::string_view value) {
    Request request;
    request.headers.Add("Host", "ksana.example:7100");
    request.headers.Add(name, value);
    return request;
}

Code CodeOf(const Guard& guard, const Request& request, Permission permission) {
    const auto caller = guard.Check(request, permission);
    EXPECT_FALSE(caller);
    return caller ? Code::kInternal : caller.error().code;
}

TEST(GuardTest, WithoutATokenEverybodyMay) {
    const Guard guard(std::nullopt);
    for (const Permission permission : kAll) {
        EXPECT_EQ(guard.Check({}, permission)->name, "anyone");
        EXPECT_TRUE(guard.Check(With("Authorization", "Bearer whatever"), permission));
    }
}

TEST(GuardTest, TheTokenOpensEverything) {
    const Guard guard{std::string(kToken)};
    for (const Permission permission : kAll) {
        for (const std::string scheme : {"Bearer ", "bearer ", "BEARER "}) {
            const auto caller =
                guard.Check(With("Authorization", scheme + std::string(kToken)), permission);
            ASSERT_TRUE(caller) << scheme;
            EXPECT_EQ(caller->name, "token");
        }
        EXPECT_TRUE(guard.Check(With("authorization", "Bearer " + std::string(kToken)), permission))
            << "header names have no case";
    }
}

TEST(GuardTest, AnythingElseOpensNothing) {
    const Guard guard{std::string(kToken)};
    const std::string token(kToken);
    for (const Permission permission : kAll) {
        EXPECT_EQ(CodeOf(guard, {}, permission), Code::kUnauthenticated);
        for (const std::string& wrong : std::vector<std::string>{
                 "", "Bearer", "Bearer ", token, "Basic " + token, "Bearer  " + token,
                 "Bearer\t" + token, "Bearer " + token + "x", "Bearer " + token + token,
                 "Bearer " + token.substr(1), "Bearer 0", "Bearer 0123456789ABCDEF",
                 "Bearer" + token}) {
            EXPECT_EQ(CodeOf(guard, With("Authorization", wrong), permission),
                      Code::kUnauthenticated)
                << wrong;
        }
        EXPECT_EQ(CodeOf(guard, With("X-Authorization", "Bearer " + token), permission),
                  Code::kUnauthenticated);
    }
}

TEST(GuardTest, AnEmptyTokenIsNotTakenForNone) {
    const Guard guard{std::string()};
    EXPECT_EQ(CodeOf(guard, {}, Permission::kRead), Code::kUnauthenticated);
    EXPECT_EQ(CodeOf(guard, With("Authorization", "Bearer x"), Permission::kRead),
              Code::kUnauthenticated);
}

TEST(GuardTest, PagesOfOtherOriginsReadAtMost) {
    const Guard guard(std::nullopt);
    for (const std::string_view origin :
         {"https://evil.example", "http://ksana.example", "http://ksana.example:7101", "null", "",
          "ksana.example:7100", "http://evil.example/ksana.example:7100",
          "http://ksana.example:7100.evil.example", "http://x@ksana.example:7100"}) {
        const Request request = With("Origin", origin);
        EXPECT_TRUE(guard.Check(request, Permission::kRead)) << origin;
        for (const Permission permission :
             {Permission::kOperate, Permission::kWrite, Permission::kAdmin}) {
            EXPECT_EQ(CodeOf(guard, request, permission), Code::kPermissionDenied) << origin;
        }
    }
    for (const std::string_view origin :
         {"http://ksana.example:7100", "https://ksana.example:7100", "http://KSANA.example:7100"}) {
        EXPECT_TRUE(guard.Check(With("Origin", origin), Permission::kWrite)) << origin;
    }
}

// A preview or a simulation changes nothing, but a page could make the server compute for seconds.
TEST(GuardTest, PagesOfOtherOriginsCannotPostForARead) {
    const Guard guard(std::nullopt);
    Request request = With("Origin", "https://evil.example");
    for (const HttpMethod method : {HttpMethod::kPost, HttpMethod::kPut, HttpMethod::kDelete}) {
        request.method = method;
        EXPECT_EQ(CodeOf(guard, request, Permission::kRead), Code::kPermissionDenied);
    }
    request.method = HttpMethod::kHead;
    EXPECT_TRUE(guard.Check(request, Permission::kRead));
    Request own = With("Origin", "http://ksana.example:7100");
    own.method = HttpMethod::kPost;
    EXPECT_TRUE(guard.Check(own, Permission::kRead));
}

TEST(GuardTest, AnotherOriginIsRefusedWithTheRightTokenToo) {
    const Guard guard{std::string(kToken)};
    Request request = With("Origin", "https://evil.example");
    request.headers.Add("Authorization", "Bearer " + std::string(kToken));
    EXPECT_EQ(CodeOf(guard, request, Permission::kWrite), Code::kPermissionDenied);
    EXPECT_TRUE(guard.Check(request, Permission::kRead));
}

}  // namespace
}  // namespace ksana::api

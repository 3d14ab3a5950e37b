#include <fmt/core.h>

#include "ksana/lock_etcd/lock_text.hpp"
#include "locks/etcd_fixture.hpp"

// G-07: etcd's own users and passwords.

namespace ksana::locks {
namespace {

using lock_etcd::ToBase64;

class EtcdUsersTest : public ::testing::Test {
  protected:
    void SetUp() override {
        Post("/v3/auth/user/add", R"({"name":"root","password":"root secret"})");
        Post("/v3/auth/user/add", R"({"name":"locker","password":"locker secret"})");
        Post("/v3/auth/role/add", R"({"name":"root"})");
        Post("/v3/auth/role/add", R"({"name":"locks"})");
        // All keys that begin with "ksana".
        Post("/v3/auth/role/grant",
             fmt::format(R"({{"name":"locks","perm":{{"permType":"READWRITE","key":"{}",)"
                         R"("range_end":"{}"}}}})",
                         ToBase64("ksana"), ToBase64("ksanb")));
        Post("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
        Post("/v3/auth/user/grant", R"({"user":"locker","role":"locks"})");
    }
    void Enable() const { Post("/v3/auth/enable", "{}"); }
    void Post(std::string_view path, const std::string& body) const {
        const codec::Json answer = EtcdPost(server_.port(), path, body);
        EXPECT_FALSE(answer.Has("/error")) << answer.Compact();
    }
    std::unique_ptr<lock::LockDriver> OpenAs(const std::string& user, const std::string& password) {
        auto options = EtcdOptions(server_.port(), clock_);
        options.user = user;
        options.password = password;
        return OpenEtcd(options);
    }
    void ExpectWorks(lock::LockDriver& driver) const {
        const auto grant = Take(driver, Request(key_, "t1"));
        ASSERT_TRUE(grant);
        EXPECT_TRUE(driver.Renew(Request(key_, "t1"), grant->fence));
        EXPECT_TRUE(driver.Release(Request(key_, "t1"), grant->fence));
    }

    EtcdServer server_;
    const std::string key_ = UniqueKey();
    const SystemClock clock_;
};

TEST_F(EtcdUsersTest, OnlyTheRightPasswordIsAccepted) {
    Enable();
    ExpectWorks(*OpenAs("locker", "locker secret"));
    for (const auto& [user, password] : {std::pair("locker", "wrong secret"),
                                         std::pair("nobody", "wrong secret"), std::pair("", "")}) {
        const auto answer = OpenAs(user, password)->Try(Request(key_, "t1"));
        ASSERT_EQ(FaultOf(answer), Code::kUnauthenticated) << user;
        EXPECT_EQ(answer.error().message.find("secret"), std::string::npos);
    }
    const auto outside = OpenAs("locker", "locker secret")->Try(Request("elsewhere", "t1"));
    EXPECT_EQ(FaultOf(outside), Code::kPermissionDenied);
}

TEST_F(EtcdUsersTest, AForgottenTokenIsRenewed) {
    Enable();
    const auto driver = OpenAs("locker", "locker secret");
    const auto grant = Take(*driver, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    // A changed password ends all tokens of the user, even if it is the same again.
    const std::string root = EtcdPost(server_.port(), "/v3/auth/authenticate",
                                      R"({"name":"root","password":"root secret"})")
                                 .TextAt("/token");
    const codec::Json changed = EtcdPost(server_.port(), "/v3/auth/user/changepw",
                                         R"({"name":"locker","password":"locker secret"})", root);
    EXPECT_FALSE(changed.Has("/error")) << changed.Compact();
    EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence));
    server_.Kill();
    server_.Start();
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
}

TEST_F(EtcdUsersTest, UsersMayBeCheckedLater) {
    const auto driver = OpenAs("locker", "locker secret");
    const auto grant = Take(*driver, Request(key_, "t1"));
    ASSERT_TRUE(grant) << "the server checks no users";
    Enable();
    EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
}

}  // namespace
}  // namespace ksana::locks

#include <vector>

#include "locks/lock_fixture.hpp"

// What can be asked for: any key, many keys, and what is refused as a mistake of the caller.

namespace ksana::locks {
namespace {

TEST_P(LockTest, KeysAreTakenLiterally) {
    const std::string two_hundred(150, 'k');
    // Pairs that a server could take for the same key: case, accents, spaces at the end, wildcards.
    const std::vector<std::string> names = {"k",
                                            "K",
                                            "k ",
                                            " k",
                                            "k/",
                                            "k/k",
                                            "k:",
                                            "k%",
                                            "k_",
                                            "k*",
                                            "k?",
                                            "{k}",
                                            "[k]",
                                            "k\\",
                                            "k'",
                                            "k\"",
                                            "';drop table x;--",
                                            "k\n",
                                            "k\t",
                                            "$1",
                                            "k\xC3\xA4",
                                            "k\xC3\x84",
                                            "ka",
                                            "\xF0\x9F\x95\x92",
                                            two_hundred + "1",
                                            two_hundred + "2"};
    std::vector<lock::Grant> grants;
    for (const std::string& name : names) {
        const auto grant = Take(*driver_, Request(name, "t1"));
        ASSERT_TRUE(grant) << name;
        grants.push_back(*grant);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_FALSE(Take(*other_, Request(names[i], "t2"))) << names[i];
        EXPECT_TRUE(driver_->Renew(Request(names[i], "t1"), grants[i].fence)) << names[i];
        EXPECT_TRUE(driver_->Release(Request(names[i], "t1"), grants[i].fence)) << names[i];
        EXPECT_TRUE(Take(*other_, Request(names[i], "t2"))) << names[i];
    }
}

TEST_P(LockTest, AKeyMayHave200Bytes) {
    lock::LockRequest one = Request("", "t1");
    one.key.resize(200, 'x');
    lock::LockRequest two = one;
    two.key.back() = 'y';
    EXPECT_TRUE(Take(*driver_, one));
    EXPECT_TRUE(Take(*driver_, two));
    one.token = "t2";
    EXPECT_FALSE(Take(*other_, one));
}

TEST_P(LockTest, TokensAreTakenLiterally) {
    const std::vector<std::string> tokens = {"t",   "T",  "t ",        " t",
                                             "t\n", "t'", "t\xC3\xA4", std::string(64, 't')};
    for (const std::string& token : tokens) {
        const auto grant = Take(*driver_, Request("a", token));
        ASSERT_TRUE(grant) << token;
        for (const std::string& other : tokens) {
            if (other == token) continue;
            EXPECT_FALSE(Take(*other_, Request("a", other))) << other << " after " << token;
            const auto freed = other_->Release(Request("a", other), grant->fence);
            ASSERT_FALSE(freed) << other << " after " << token;
            EXPECT_EQ(freed.error().code, Code::kLeaseLost);
        }
        ASSERT_TRUE(driver_->Release(Request("a", token), grant->fence)) << token;
    }
}

TEST_P(LockTest, MistakesAreRefused) {
    lock::LockRequest no_key = Request("a", "t1");
    no_key.key.clear();
    const lock::LockRequest no_token = Request("a", "");
    const lock::LockRequest no_time = Request("a", "t1", Duration::zero());
    const lock::LockRequest negative = Request("a", "t1", std::chrono::seconds(-1));
    for (const lock::LockRequest& request : {no_key, no_token, no_time, negative}) {
        const auto tried = driver_->Try(request);
        ASSERT_FALSE(tried);
        EXPECT_EQ(tried.error().code, Code::kInvalidArgument);
        const auto renewed = driver_->Renew(request, 1);
        ASSERT_FALSE(renewed);
        EXPECT_EQ(renewed.error().code, Code::kInvalidArgument);
    }
    for (const lock::LockRequest& request : {no_key, no_token}) {
        const auto released = driver_->Release(request, 1);
        ASSERT_FALSE(released);
        EXPECT_EQ(released.error().code, Code::kInvalidArgument);
    }
    EXPECT_TRUE(Take(*driver_, Request("a", "t1"))) << "nothing of that was carried out";
}

TEST_P(LockTest, ManyLocksAreHeldAtOnce) {
    constexpr int kLocks = 100;
    const auto name = [](int i) { return "many" + std::to_string(i); };
    std::vector<lock::Grant> grants;
    for (int i = 0; i < kLocks; ++i) {
        const auto grant = Take(*driver_, Request(name(i), "t" + std::to_string(i)));
        ASSERT_TRUE(grant) << i;
        grants.push_back(*grant);
    }
    for (int i = 0; i < kLocks; ++i) {
        EXPECT_FALSE(Take(*other_, Request(name(i), "other"))) << i;
        const auto own = Request(name(i), "t" + std::to_string(i));
        EXPECT_TRUE(driver_->Renew(own, grants[i].fence)) << i;
        EXPECT_TRUE(driver_->Release(own, grants[i].fence)) << i;
    }
    for (int i = 0; i < kLocks; ++i) EXPECT_TRUE(Take(*other_, Request(name(i), "other"))) << i;
}

TEST_P(LockTest, TheFenceOutlivesTheDriver) {
    auto brief = Open();
    ASSERT_TRUE(brief);
    const auto grant = Take(*brief, Request("a", "t1"));
    ASSERT_TRUE(grant);
    ASSERT_TRUE(brief->Release(Request("a", "t1"), grant->fence));
    brief.reset();
    const auto next = Take(*other_, Request("a", "t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence) << "the fence belongs to the server";
}

}  // namespace
}  // namespace ksana::locks

#include "ksana/codec/records/document_codec.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "support/fill.hpp"

namespace ksana::codec {
namespace {

using namespace model;

std::string ToJson(const RunType& type) { return RunTypeToJson(type); }
std::string ToJson(const Worker& worker) { return WorkerToJson(worker); }
std::string ToJson(const ServerNode& node) { return NodeToJson(node); }
std::string ToJson(const Lock& lock) { return LockToJson(lock); }

Result<RunType> FromJson(std::string_view text, const RunType&) { return RunTypeFromJson(text); }
Result<Worker> FromJson(std::string_view text, const Worker&) { return WorkerFromJson(text); }
Result<ServerNode> FromJson(std::string_view text, const ServerNode&) { return NodeFromJson(text); }
Result<Lock> FromJson(std::string_view text, const Lock&) { return LockFromJson(text); }

template <class T>
::testing::AssertionResult Survives(const T& value) {
    const std::string text = ToJson(value);
    const auto back = FromJson(text, T{});
    if (!back) return ::testing::AssertionFailure() << back.error().Describe() << "\n" << text;
    if (*back != value) return ::testing::AssertionFailure() << "not the same: " << text;
    return ::testing::AssertionSuccess();
}

template <class T>
class BodyOf : public ::testing::Test {};

using Kinds = ::testing::Types<RunType, Worker, ServerNode, Lock>;
TYPED_TEST_SUITE(BodyOf, Kinds);

TYPED_TEST(BodyOf, Survives) {
    EXPECT_TRUE(Survives(TypeParam{}));
    SeededRandom random(1);
    testing::Filler filler(random);
    testing::Filler bytes(random, true);
    for (int i = 0; i < 200; ++i) {
        for (const TypeParam& value : filler.EachMemberChanged<TypeParam>()) {
            ASSERT_TRUE(Survives(value));
        }
        ASSERT_TRUE(Survives(filler.Populated<TypeParam>()));
        ASSERT_TRUE(Survives(bytes.Populated<TypeParam>()));
    }
}

TYPED_TEST(BodyOf, IsRefusedWhenItIsCutOff) {
    SeededRandom random(2);
    const std::string text = ToJson(testing::Filler(random).Populated<TypeParam>());
    for (std::size_t n = 0; n < text.size(); ++n) {
        ASSERT_FALSE(FromJson(text.substr(0, n), TypeParam{})) << n;
    }
}

TEST(DocumentCodec, PartsOfATypeSurvive) {
    SeededRandom random(3);
    testing::Filler filler(random);
    for (const Callbacks& callbacks : filler.EachMemberChanged<Callbacks>()) {
        EXPECT_TRUE(Survives(RunType{.callbacks = callbacks}));
    }
    for (const Callback& callback : filler.EachMemberChanged<Callback>()) {
        EXPECT_TRUE(Survives(RunType{.callbacks = {.success = callback}}));
        EXPECT_TRUE(Survives(RunType{.callbacks = {.error = callback}}));
    }
    EXPECT_TRUE(Survives(RunType{.retry = RetryPolicy{}, .timeout = Duration::zero()}));
    EXPECT_TRUE(Survives(Lock{.until = TimePoint{}, .stamp = 0}));
    EXPECT_TRUE(Survives(Lock{.stamp = std::numeric_limits<std::int64_t>::min()}));
}

TEST(DocumentCodec, WritesTheseBodies) {
    EXPECT_EQ(RunTypeToJson(RunType{.code = "c", .retry = RetryPolicy{.max_retries = 1}}),
              R"({"code":"c","retry":{"max_retries":1}})");
    EXPECT_EQ(WorkerToJson(Worker{.id = "w", .types = {"a", "b"}, .slots = 4}),
              R"({"id":"w","types":["a","b"],"slots":4})");
    // The form of versions without stamps, which is still read.
    EXPECT_EQ(LockToJson(Lock{"l", "o", 7, TimePoint{}, {}}),
              R"({"name":"l","owner":"o","fence":7,"until":"1970-01-01T00:00:00Z"})");
    EXPECT_EQ(LockToJson(Lock{"l", "", 8, {}, 9'223'372'036'854'775'807}),
              R"({"name":"l","fence":8,"stamp":9223372036854775807})");
}

// Two versions run side by side during an upgrade.
TEST(DocumentCodec, NodesOfALaterVersionAreRead) {
    const auto node = NodeFromJson(
        R"({"name":"n","version":"99.0","zone":{"rack":7},"gone":true,"roles":["a"]})");
    ASSERT_TRUE(node) << node.error().Describe();
    EXPECT_EQ(*node, (ServerNode{.name = "n", .version = "99.0", .gone = true}));
    EXPECT_FALSE(NodeFromJson(R"({"name":"n","gone":1})")) << "what is known must be right";
}

template <class T>
std::vector<std::string> Paths(const Result<T>& parsed) {
    std::vector<std::string> paths;
    if (parsed) return {"no fault"};
    for (const Problem& problem : parsed.error().problems) paths.push_back(problem.path);
    return paths;
}

TEST(DocumentCodec, NamesEveryFault) {
    using Strings = std::vector<std::string>;
    EXPECT_EQ(Paths(RunTypeFromJson(
                  R"({"callbacks":{"success":{"method":"GET"},"eror":{}},"timeout":"1x"})")),
              (Strings{"/code", "/timeout", "/callbacks/success/method", "/callbacks/eror"}));
    EXPECT_EQ(Paths(WorkerFromJson(R"({"id":1,"incarnation":"x","types":["a",1],"slot":1})")),
              (Strings{"/id", "/incarnation", "/types/1", "/slot"}));
    EXPECT_EQ(Paths(LockFromJson(R"({"fence":"1","until":"","stamp":1.5})")),
              (Strings{"/name", "/fence", "/until", "/stamp"}));
    EXPECT_EQ(Paths(LockFromJson("[]")), (Strings{""}));
    EXPECT_FALSE(LockFromJson(R"({"name":"a","name":"b"})"));
}

}  // namespace
}  // namespace ksana::codec

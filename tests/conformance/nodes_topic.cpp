// The servers that share a store.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::ServerNode;
using std::chrono::seconds;

ServerNode MakeNode(const std::string& name, const std::string& incarnation) {
    return {.name = name,
            .incarnation = incarnation,
            .address = "http://10.0.0.1:7100",
            .version = "1.0",
            .slots = 4,
            .lease = seconds(15)};
}

// K-24
TEST_P(StoreTest, NodesRegisterBeatAndLeave) {
    auto& nodes = store().nodes();
    const auto registered = nodes.Register(MakeNode("a", "1"), now_);
    ASSERT_TRUE(registered) << registered.error().Describe();
    EXPECT_EQ(registered->started_at, now_);
    EXPECT_EQ(registered->heartbeat_at, now_);
    EXPECT_EQ(*nodes.Get("a"), *registered);
    ServerNode busy = MakeNode("a", "1");
    busy.busy = 3;
    const auto beaten = nodes.Beat(busy, now_ + seconds(5));
    ASSERT_TRUE(beaten) << beaten.error().Describe();
    EXPECT_EQ(beaten->started_at, now_) << "stays";
    EXPECT_EQ(nodes.Get("a")->busy, 3);
    EXPECT_EQ(nodes.Beat(busy, now_)->heartbeat_at, now_ + seconds(5)) << "a late heartbeat";
    EXPECT_EQ(nodes.Beat(MakeNode("b", "1"), now_).error().code, Code::kNotFound);

    ASSERT_TRUE(nodes.MarkDown("a", "1"));
    EXPECT_TRUE(nodes.Get("a")->down);
    EXPECT_FALSE(nodes.Beat(busy, now_ + seconds(6))->down) << "it was not dead after all";

    ASSERT_TRUE(nodes.Register(MakeNode("a", "2"), now_ + seconds(7))) << "it was restarted";
    EXPECT_EQ(nodes.Beat(busy, now_ + seconds(8)).error().code, Code::kLeaseLost);
    EXPECT_EQ(nodes.Leave("a", "1").error().code, Code::kLeaseLost);
    EXPECT_EQ(nodes.MarkDown("a", "1").error().code, Code::kLeaseLost);
    EXPECT_EQ(nodes.Forget("a", "1").error().code, Code::kLeaseLost);
    ASSERT_TRUE(nodes.Leave("a", "2"));
    EXPECT_TRUE(nodes.Get("a")->gone);
    ASSERT_TRUE(nodes.Forget("a", "2"));
    EXPECT_EQ(nodes.Get("a").error().code, Code::kNotFound);
    EXPECT_EQ(nodes.Forget("a", "2").error().code, Code::kNotFound);
}

TEST_P(StoreTest, NodesAreListedByName) {
    auto& nodes = store().nodes();
    for (const char* name : {"c", "a", "b"}) ASSERT_TRUE(nodes.Register(MakeNode(name, name)));
    const auto page = nodes.List({.prefix = {}, .limit = 2, .cursor = {}});
    ASSERT_TRUE(page);
    ASSERT_EQ(page->items.size(), 2U);
    EXPECT_EQ(page->items[0].name, "a");
    const auto rest = nodes.List({.prefix = {}, .limit = 2, .cursor = page->next});
    ASSERT_TRUE(rest);
    ASSERT_EQ(rest->items.size(), 1U);
    EXPECT_EQ(rest->items[0].name, "c");
    EXPECT_EQ(rest->items[0].address, "http://10.0.0.1:7100");
}

// A heartbeat wakes no loop of any node; a node that comes or goes does.
TEST_P(StoreTest, HeartbeatsOfNodesAreQuiet) {
    store::Topics told;
    const auto subscription = store().changes().Subscribe(
        store::Topics::All(), [&](store::Topics topics) { told |= topics; });
    ASSERT_TRUE(store().nodes().Register(MakeNode("a", "1")));
    EXPECT_EQ(std::exchange(told, {}), store::Topics(store::Topic::kDocuments));
    ASSERT_TRUE(store().nodes().Beat(MakeNode("a", "1")));
    EXPECT_EQ(std::exchange(told, {}), store::Topics());
    ASSERT_TRUE(store().nodes().Leave("a", "1"));
    EXPECT_EQ(told, store::Topics(store::Topic::kDocuments));
}

// The rows describe processes, not the install.
TEST_P(StoreTest, NodesAreNotExported) {
    ASSERT_TRUE(store().types().Put({.type = {.code = "mail"}}));
    for (const char* name : {"a", "b"}) ASSERT_TRUE(store().nodes().Register(MakeNode(name, "1")));
    ASSERT_TRUE(store().settings().Put({.key = "s", .value = "1"}));
    std::vector<std::string> kinds;
    std::string cursor;
    do {
        const auto page = store().records().Read(cursor, 1);
        ASSERT_TRUE(page);
        for (const auto& record : page->items) {
            kinds.push_back(std::get<model::Document>(record).kind);
        }
        cursor = page->next;
    } while (!cursor.empty());
    EXPECT_EQ(kinds, (std::vector<std::string>{"setting", "type"}));
}

// No answer is allowed; a wrong one is not: these processes are alive, or never were.
TEST_P(StoreTest, SessionsOfNodesAreToldOrUnknown) {
    ASSERT_TRUE(store().nodes().Register(MakeNode("a", "1")));
    const auto absent = store().nodes().WithoutSession({"1"});
    ASSERT_TRUE(absent) << absent.error().Describe();
    EXPECT_EQ(absent->value_or(std::vector<std::string>()), std::vector<std::string>());
}

}  // namespace
}  // namespace ksana::conformance

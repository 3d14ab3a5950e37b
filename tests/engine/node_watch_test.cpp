#include "ksana/engine/nodes/node_watch.hpp"

#include <gtest/gtest.h>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/store/faulty_store.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {
namespace {

using model::NodeState;
using model::ServerNode;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The memory store, with sessions as the test says.
struct Sessions {
    bool known = true;
    std::vector<std::string> absent;
    int looks = 0;
};

class SessionBackend final : public store_kit::Backend {
  public:
    SessionBackend(Clock& clock, Sessions& sessions)
        : inner_(store_memory::OpenMemory(clock)), sessions_(sessions) {}

    Result<void> Write(const WriteBody& body) override { return inner_->Write(body); }
    Result<void> Read(const ReadBody& body) override { return inner_->Read(body); }
    store::ChangeFeed& changes() override { return inner_->changes(); }
    Result<store::StoreInfo> Info() override { return inner_->Info(); }
    Result<std::optional<std::vector<std::string>>> WithoutSession(
        const std::vector<std::string>&) override {
        ++sessions_.looks;
        if (!sessions_.known) return std::optional<std::vector<std::string>>();
        return std::optional(sessions_.absent);
    }

  private:
    std::unique_ptr<store_kit::Backend> inner_;
    Sessions& sessions_;
};

class NodeWatchTest : public ::testing::Test {
  protected:
    NodeWatchTest()
        : ids_(clock_, random_),
          store_(store_kit::MakeStore(std::make_unique<SessionBackend>(clock_, sessions_), ids_)),
          faulty_(store::MakeFaultyStore(*store_, plan_, {})),
          watch_(*faulty_, clock_,
                 {.self = {.name = "me", .incarnation = "me-1", .lease = seconds(15)},
                  .shared = true,
                  .address = [] { return std::string("http://me/"); },
                  .load = [this](ServerNode& self) { self.busy = busy_; },
                  .take_back = [this](const std::vector<std::string>& owners) -> Result<void> {
                      if (refuses_) return Error(Code::kUnavailable, "not now");
                      taken_.insert(taken_.end(), owners.begin(), owners.end());
                      return {};
                  }}) {}

    void AddOther(const std::string& name = "other") {
        ASSERT_TRUE(store_->nodes().Register(
            {.name = name, .incarnation = name + "-1", .lease = seconds(15)}));
        watch_.Hint();
    }
    // Makes a step, and lets the time pass that it asks for.
    void StepOn() {
        const auto step = watch_.RunOnce();
        ASSERT_TRUE(step) << step.error().Describe();
        ASSERT_TRUE(step->within);
        clock_.Advance(*step->within);
    }
    NodeState StateOf(const std::string& name) {
        const auto all = watch_.All();
        for (const NodeStatus& one : *all) {
            if (one.node.name == name) return one.state;
        }
        ADD_FAILURE() << "there is no " << name;
        return NodeState::kGone;
    }

    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_;
    Sessions sessions_;
    store::FaultPlan plan_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<store::Store> faulty_;
    std::int32_t busy_ = 0;
    bool refuses_ = false;
    std::vector<std::string> taken_;
    NodeWatch watch_;
};

using Owners = std::vector<std::string>;

// D-10, K-24: dead after two looks a second apart; its runs are taken back once.
TEST_F(NodeWatchTest, ANodeWithoutASessionInTwoLooksIsDead) {
    ASSERT_TRUE(watch_.Join());
    AddOther();
    AddOther("third");
    StepOn();
    EXPECT_EQ(taken_, Owners());
    sessions_.absent = {"other-1"};
    StepOn();
    EXPECT_EQ(taken_, Owners()) << "one look proves nothing";
    EXPECT_EQ(StateOf("other"), NodeState::kAlive);
    watch_.Hint();
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_EQ(taken_, Owners({"other/other-1"}));
    EXPECT_EQ(StateOf("other"), NodeState::kDown);
    EXPECT_EQ(StateOf("third"), NodeState::kAlive);
    for (int n = 0; n < 5; ++n) StepOn();
    EXPECT_EQ(taken_.size(), 1U);
}

TEST_F(NodeWatchTest, WakeUpsInBetweenAreNoLooks) {
    ASSERT_TRUE(watch_.Join());
    AddOther();
    sessions_.absent = {"other-1"};
    for (int n = 0; n < 9; ++n) {
        watch_.Hint();
        ASSERT_TRUE(watch_.RunOnce());
        clock_.Advance(milliseconds(100));
    }
    EXPECT_EQ(sessions_.looks, 1);
    EXPECT_EQ(taken_, Owners());
}

// D-11: a node that reconnects, and a database that cannot tell, orphan nothing.
TEST_F(NodeWatchTest, NobodyIsDeadByAMissInBetweenOrWithoutAnAnswer) {
    ASSERT_TRUE(watch_.Join());
    AddOther();
    for (int n = 0; n < 6; ++n) {
        sessions_.absent = n % 2 == 0 ? Owners({"other-1"}) : Owners();
        StepOn();
    }
    sessions_.absent = {"other-1"};
    for (int n = 0; n < 6; ++n) {
        sessions_.known = n % 2 == 0;
        StepOn();
    }
    sessions_.known = true;
    for (int n = 0; n < 3; ++n) {
        StepOn();
        plan_.Next("nodes.WithoutSession", {.kind = store::FaultKind::kErrorBefore});
        EXPECT_FALSE(watch_.RunOnce());
        clock_.Advance(seconds(1));
    }
    EXPECT_EQ(taken_, Owners());
    EXPECT_EQ(StateOf("other"), NodeState::kDown) << "silent for longer than its lease";
}

TEST_F(NodeWatchTest, RunsThatCouldNotBeTakenBackAreTriedAgain) {
    ASSERT_TRUE(watch_.Join());
    AddOther();
    sessions_.absent = {"other-1"};
    StepOn();
    refuses_ = true;
    EXPECT_FALSE(watch_.RunOnce());
    EXPECT_EQ(StateOf("other"), NodeState::kAlive) << "not marked before its runs are back";
    refuses_ = false;
    clock_.Advance(seconds(1));
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_EQ(taken_, Owners({"other/other-1"}));
}

TEST_F(NodeWatchTest, AloneItAsksForNoSessions) {
    ASSERT_TRUE(watch_.Join());
    for (int n = 0; n < 5; ++n) StepOn();
    EXPECT_EQ(sessions_.looks, 0);
    AddOther();
    StepOn();
    EXPECT_EQ(sessions_.looks, 1) << "at once";
    ASSERT_TRUE(store_->nodes().Leave("other", "other-1"));
    watch_.Hint();
    for (int n = 0; n < 5; ++n) StepOn();
    EXPECT_EQ(sessions_.looks, 1);
}

TEST_F(NodeWatchTest, TheRowFollowsTheNode) {
    ASSERT_TRUE(watch_.Join());
    busy_ = 3;
    EXPECT_EQ(store_->nodes().Get("me")->busy, 0);
    StepOn();
    StepOn();
    EXPECT_EQ(store_->nodes().Get("me")->busy, 3);
    EXPECT_EQ(store_->nodes().Get("me")->heartbeat_at, clock_.Now() - seconds(5));
    watch_.SetStopping(true);
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_TRUE(store_->nodes().Get("me")->stopping) << "at once";
    EXPECT_EQ(store_->nodes().Get("me")->address, "http://me/");
    watch_.Leave();
    EXPECT_TRUE(store_->nodes().Get("me")->gone);
    EXPECT_TRUE(watch_.RunOnce()) << "does nothing any more";
    EXPECT_TRUE(store_->nodes().Get("me")->gone);
}

TEST_F(NodeWatchTest, ARowThatIsGoneIsMadeAgainAndOneThatIsTakenIsNot) {
    ASSERT_TRUE(watch_.Join());
    ASSERT_TRUE(store_->nodes().Forget("me", "me-1"));
    clock_.Advance(seconds(5));
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_EQ(store_->nodes().Get("me")->incarnation, "me-1");
    ASSERT_TRUE(store_->nodes().Register({.name = "me", .incarnation = "me-2"}));
    for (int n = 0; n < 3; ++n) {
        clock_.Advance(seconds(5));
        ASSERT_TRUE(watch_.RunOnce());
    }
    EXPECT_EQ(store_->nodes().Get("me")->incarnation, "me-2");
    watch_.Leave();
    EXPECT_FALSE(store_->nodes().Get("me")->gone);
}

TEST_F(NodeWatchTest, SilentRowsAreDeletedAfterADay) {
    AddOther();
    clock_.Advance(hours(25));
    AddOther("young");
    ASSERT_TRUE(watch_.Join());
    ASSERT_TRUE(watch_.RunOnce());
    EXPECT_EQ(store_->nodes().Get("other").error().code, Code::kNotFound);
    EXPECT_TRUE(store_->nodes().Get("young"));
}

// A store for one process has no rows; the node shows itself.
TEST_F(NodeWatchTest, WithoutOthersTheNodeShowsItself) {
    NodeWatch alone(*store_, clock_, {.self = {.name = "local", .incarnation = "1"}});
    ASSERT_TRUE(alone.Join());
    EXPECT_TRUE(store_->nodes().List({})->items.empty());
    const auto all = alone.All();
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 1U);
    EXPECT_EQ(all->front().state, NodeState::kAlive);
    EXPECT_TRUE(all->front().self);
}

}  // namespace
}  // namespace ksana::engine

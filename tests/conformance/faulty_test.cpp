#include "conformance/store_fixture.hpp"
#include "ksana/store/faulty_store.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::conformance {
namespace {

using store::Fault;
using store::FaultKind;

// A memory store behind a faulty store.
struct FaultyMemory {
    FakeClock clock;
    SystemRandom random;
    UuidGenerator ids{clock, random};
    store::FaultPlan plan{7};
    std::unique_ptr<store::Store> inner =
        store_kit::MakeStore(store_memory::OpenMemory(clock), ids);
    std::unique_ptr<store::Store> faulty =
        store::MakeFaultyStore(*inner, plan, [this](Duration by) { clock.Advance(by); });
};

// Without faults it behaves like any store: the whole suite shows that it forwards each call.
class FaultyHarness final : public StoreHarness {
  public:
    store::Store& store() override { return *stores_.faulty; }
    bool Reopen() override { return false; }

  private:
    FaultyMemory stores_;
};

INSTANTIATE_TEST_SUITE_P(Faulty, StoreTest,
                         ::testing::Values(StoreFactory{
                             "faulty", [] { return std::make_unique<FaultyHarness>(); }}));

class FaultyStoreTest : public ::testing::Test {
  protected:
    model::Run MakeRun() {
        model::Run run;
        run.id = stores_.ids.Next();
        run.type = "mail";
        run.status.ready_at = stores_.clock.Now();
        return run;
    }
    Result<std::vector<store::Submitted>> Submit(const model::Run& run) {
        return stores_.faulty->runs().Submit({.runs = {run}});
    }
    std::int64_t RunsThere() { return stores_.inner->records().Counts().value().runs; }

    FaultyMemory stores_;
    store::FaultPlan& plan_ = stores_.plan;
};

TEST_F(FaultyStoreTest, AnErrorBeforeLeavesNothing) {
    plan_.Next("runs.Submit", {FaultKind::kErrorBefore});
    const model::Run run = MakeRun();
    const auto failed = Submit(run);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::kUnavailable);
    EXPECT_EQ(failed.error().message.find("unknown"), std::string::npos);
    EXPECT_EQ(RunsThere(), 0);
    EXPECT_EQ(Submit(run).value()[0].verdict, store::SubmitVerdict::kStored);
    EXPECT_EQ(plan_.Injected(FaultKind::kErrorBefore), 1);
    EXPECT_EQ(plan_.Calls("runs.Submit"), 2);
}

TEST_F(FaultyStoreTest, AfterAnUnknownOutcomeTheSameIdIsRecognised) {
    plan_.At("runs.Submit", 1, {FaultKind::kErrorAfter});
    const model::Run run = MakeRun();
    const auto unknown = Submit(run);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Code::kUnavailable);
    EXPECT_NE(unknown.error().message.find("unknown"), std::string::npos);
    EXPECT_EQ(RunsThere(), 1);
    EXPECT_EQ(Submit(run).value()[0].verdict, store::SubmitVerdict::kSameId);
    EXPECT_EQ(RunsThere(), 1);
}

TEST_F(FaultyStoreTest, AnErrorOfTheStoreItselfComesThrough) {
    plan_.Next("jobs.Get", {FaultKind::kErrorAfter});
    EXPECT_EQ(stores_.faulty->jobs().Get("none").error().code, Code::kNotFound);
}

TEST_F(FaultyStoreTest, ADuplicateGivesTheFirstAnswer) {
    const model::Run run = MakeRun();
    plan_.Next("runs.Submit", {FaultKind::kDuplicate});
    EXPECT_EQ(Submit(run).value()[0].verdict, store::SubmitVerdict::kStored);
    EXPECT_EQ(RunsThere(), 1);

    auto& runs = stores_.faulty->runs();
    const auto claimed = runs.Claim({.owner = "w"}).value().runs;
    ASSERT_EQ(claimed.size(), 1U);
    const model::RunEvent report{
        run.id,
        {.kind = model::EventKind::kSuccess, .exec_id = claimed[0].status.exec_id, .result = "1"}};
    plan_.Next("runs.Exchange", {FaultKind::kDuplicate});
    EXPECT_EQ(runs.Apply({report}).value()[0].verdict, model::EventVerdict::kApplied);
    EXPECT_EQ(runs.Apply({report}).value()[0].verdict, model::EventVerdict::kDuplicate);
    EXPECT_EQ(plan_.Injected(FaultKind::kDuplicate), 2);
    EXPECT_EQ(plan_.Injected(FaultKind::kDuplicate, "runs.Exchange"), 1);
}

TEST_F(FaultyStoreTest, ADelayPassesBeforeTheCall) {
    const TimePoint before = stores_.clock.Now();
    plan_.Next("store.Now", {FaultKind::kDelay, std::chrono::minutes(3)});
    EXPECT_EQ(stores_.faulty->Now().value(), before + std::chrono::minutes(3));
    EXPECT_EQ(stores_.faulty->Now().value(), before + std::chrono::minutes(3));
}

TEST_F(FaultyStoreTest, ALateAnswerIsOfTheTimeOfTheCall) {
    const TimePoint before = stores_.clock.Now();
    plan_.Next("store.Now", {FaultKind::kLateAnswer, std::chrono::minutes(3)});
    EXPECT_EQ(stores_.faulty->Now().value(), before);
    EXPECT_EQ(stores_.clock.Now(), before + std::chrono::minutes(3));
}

// The same seed gives the same faults, whatever other calls come in between.
TEST(FaultPlan, RepeatsFromItsSeed) {
    const store::FaultChances chances{.error_before = 100'000,
                                      .error_after = 100'000,
                                      .delay = 100'000,
                                      .duplicate = 100'000,
                                      .late_answer = 100'000};
    const auto draw = [&](std::uint64_t seed, bool others) {
        store::FaultPlan plan(seed);
        plan.Randomly("runs.", chances);
        std::vector<Fault> faults;
        for (int i = 0; i < 2'000; ++i) {
            if (others) (void)plan.Take("runs.Get");
            faults.push_back(plan.Take("runs.Submit"));
        }
        for (const FaultKind kind :
             {FaultKind::kErrorBefore, FaultKind::kErrorAfter, FaultKind::kDelay,
              FaultKind::kLateAnswer, FaultKind::kDuplicate}) {
            EXPECT_NEAR(static_cast<double>(plan.Injected(kind, "runs.Submit")), 200, 70);
        }
        return faults;
    };
    EXPECT_EQ(draw(1, false), draw(1, true));
    EXPECT_NE(draw(1, false), draw(2, false));
}

TEST(FaultPlan, TheLongestNameThatFitsCounts) {
    store::FaultPlan plan;
    plan.Randomly("", {.error_before = 1'000'000});
    plan.Randomly("runs.", {.error_after = 1'000'000});
    plan.Randomly("runs.Get", {});
    EXPECT_EQ(plan.Take("jobs.Get").kind, FaultKind::kErrorBefore);
    EXPECT_EQ(plan.Take("runs.Submit").kind, FaultKind::kErrorAfter);
    EXPECT_EQ(plan.Take("runs.Get").kind, FaultKind::kNone);
    plan.Clear();
    EXPECT_EQ(plan.Take("jobs.Get").kind, FaultKind::kNone);
}

}  // namespace
}  // namespace ksana::conformance

#include <gtest/gtest.h>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_kit/runs/exchange.hpp"
#include "ksana/store_kit/runs/run_source.hpp"
#include "ksana/store_memory/memory_backend.hpp"

// Exchanges of several callers in one transaction behave as if each had its own.

namespace ksana::store_memory {
namespace {

using model::EventKind;
using model::EventVerdict;
using store::ClaimParams;
using store::ExchangeParams;

class SharedExchangeTest : public ::testing::Test {
  protected:
    SharedExchangeTest() {
        auto backend = OpenMemory(clock_);
        backend_ = backend.get();
        store_ = store_kit::MakeStore(std::move(backend), ids_);
    }

    void Submit(int count, const model::Run& like = {.type = "mail"}) {
        std::vector<model::Run> runs(static_cast<std::size_t>(count), like);
        for (model::Run& run : runs) run.id = ids_.Next();
        ASSERT_TRUE(store_->runs().Submit({.runs = runs}));
    }

    std::vector<store::Exchanged> Together(const std::vector<ExchangeParams>& calls) {
        std::vector<store_kit::ExchangeWrite> writes;
        for (const ExchangeParams& params : calls) writes.emplace_back(params, source_);
        std::vector<store_kit::SharedWrite*> all;
        for (store_kit::ExchangeWrite& write : writes) all.push_back(&write);
        EXPECT_TRUE(backend_->Write(
            [&](store_kit::Transaction& tx) { return writes.front().DoAll(tx, all); }));
        std::vector<store::Exchanged> made;
        for (store_kit::ExchangeWrite& write : writes) made.push_back(std::move(write.made()));
        return made;
    }

    model::Run ClaimOne() {
        auto claimed = store_->runs().Claim({.owner = "w"});
        EXPECT_EQ(claimed->runs.size(), 1U);
        return claimed->runs.at(0);
    }

    static model::RunEvent Success(const model::Run& run) {
        return {run.id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id}};
    }

    FakeClock clock_;
    SeededRandom random_{7};
    UuidGenerator ids_{clock_, random_};
    store_kit::RunSource source_{ids_};
    store_kit::Backend* backend_ = nullptr;
    std::unique_ptr<store::Store> store_;
};

TEST_F(SharedExchangeTest, WhoCameFirstIsServedFirst) {
    Submit(5);
    const auto claim = [](const char* owner, std::size_t limit) {
        return ExchangeParams{.claim = ClaimParams{.filter = {.types = {"mail"}},
                                                   .owner = owner,
                                                   .lease = std::chrono::seconds(limit),
                                                   .limit = limit}};
    };
    const auto made = Together({claim("a", 2), claim("b", 2), claim("c", 3), claim("d", 1)});
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < made.size(); ++i) {
        counts.push_back(made[i].claimed.runs.size());
        EXPECT_FALSE(made[i].claimed.more) << "nothing is left";
        for (const model::Run& run : made[i].claimed.runs) {
            EXPECT_EQ(run.status.owner, std::string(1, static_cast<char>('a' + i)));
            EXPECT_EQ(run.status.lease_until, clock_.Now() + std::chrono::seconds(i == 2 ? 3 : 2));
            EXPECT_EQ(store_->runs().Get(run.id)->run.status, run.status);
        }
    }
    EXPECT_EQ(counts, (std::vector<std::size_t>{2, 2, 1, 0}));
    Submit(3);
    const auto more = Together({claim("a", 1), claim("b", 1)});
    EXPECT_TRUE(more[0].claimed.more);
    EXPECT_TRUE(more[1].claimed.more);
}

// With any filters, and any number of claims per caller.
TEST_F(SharedExchangeTest, EachClaimHasItsFilter) {
    Submit(2);
    Submit(2, {.type = "bill"});
    const auto of = [](const char* type, const char* owner) {
        return ClaimParams{.filter = {.types = {type}}, .owner = owner, .limit = 1};
    };
    const auto made = Together({{.claim = of("mail", "a"), .more_claims = {of("bill", "b")}},
                                {.claim = of("bill", "c"), .more_claims = {of("mail", "d")}},
                                {}});
    for (int call = 0; call < 2; ++call) {
        const auto& exchanged = made[static_cast<std::size_t>(call)];
        ASSERT_EQ(exchanged.claimed.runs.size(), 1U);
        ASSERT_EQ(exchanged.more_claimed.size(), 1U);
        ASSERT_EQ(exchanged.more_claimed[0].runs.size(), 1U);
        EXPECT_EQ(exchanged.claimed.runs[0].type, call == 0 ? "mail" : "bill");
        EXPECT_EQ(exchanged.claimed.runs[0].status.owner, call == 0 ? "a" : "c");
        EXPECT_EQ(exchanged.more_claimed[0].runs[0].type, call == 0 ? "bill" : "mail");
    }
    EXPECT_TRUE(made[2].claimed.runs.empty());
}

TEST_F(SharedExchangeTest, EveryReportHasItsOwnAnswer) {
    Submit(3);
    const model::Run first = ClaimOne();
    const model::Run second = ClaimOne();
    model::RunEvent stale = Success(second);
    stale.event.exec_id = first.status.exec_id;
    const auto made = Together({{.events = {Success(first), stale}},
                                {.events = {Success(second), Success(first)}},
                                {.events = {{ids_.Next(), {.kind = EventKind::kCancel}}},
                                 .claim = ClaimParams{.owner = "w", .limit = 9}}});
    const auto verdicts = [](const store::Exchanged& exchanged) {
        std::vector<EventVerdict> list;
        for (const auto& applied : exchanged.applied) list.push_back(applied.verdict);
        return list;
    };
    using Verdicts = std::vector<EventVerdict>;
    EXPECT_EQ(verdicts(made[0]), (Verdicts{EventVerdict::kApplied, EventVerdict::kStale}));
    EXPECT_EQ(verdicts(made[1]), (Verdicts{EventVerdict::kApplied, EventVerdict::kDuplicate}));
    EXPECT_EQ(verdicts(made[2]), (Verdicts{EventVerdict::kNotFound}));
    EXPECT_EQ(made[2].claimed.runs.size(), 1U);
}

// One caller's follow-up and audit do not apply to another caller's reports.
TEST_F(SharedExchangeTest, FollowUpsAndAuditsAreOfTheirCaller) {
    model::Run like{.type = "mail"};
    like.policy.success_callback = true;
    Submit(3, like);
    std::vector<model::Run> runs = {ClaimOne(), ClaimOne(), ClaimOne()};
    const auto saying = [&](const char* type) {
        return [this, type](const model::Run& after, model::CallbackWanted) {
            model::Run callback{.id = ids_.Next(), .type = type};
            callback.parent = after.id;
            return std::vector<model::Run>{callback};
        };
    };
    const auto audit = [](const char* action) {
        model::AuditEvent event;
        event.action = action;
        return event;
    };
    model::RunEvent stale = Success(runs[0]);
    stale.event.exec_id = "another";
    Together({{.events = {Success(runs[0])}},
              {.events = {Success(runs[1])}, .follow_up = saying("b"), .audit = audit("told")},
              {.events = {Success(runs[2])}, .follow_up = saying("c")},
              {.events = {stale}, .audit = audit("in vain")}});
    const auto of_type = [&](const char* type) { return *store_->runs().Count({.type = type}, 9); };
    EXPECT_EQ(of_type("b"), 1);
    EXPECT_EQ(of_type("c"), 1);
    EXPECT_EQ(*store_->runs().Count({}, 9), 5) << "the first asked for none";
    const auto events = store_->events().List({});
    ASSERT_EQ(events->items.size(), 1U);
    EXPECT_EQ(events->items[0].action, "told");
}

}  // namespace
}  // namespace ksana::store_memory

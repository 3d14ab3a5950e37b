// Which claim gets which run, and in what order.
#include <algorithm>
#include <set>

#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::EventVerdict;
using model::RunState;
using std::chrono::seconds;

// T-03, T-04: a claimed run has an owner, a new exec_id, a lease and a deadline.
TEST_P(StoreTest, AClaimStartsAnAttempt) {
    SubmitOne(MakeRun());
    const auto claimed = Claim(10);
    ASSERT_EQ(claimed.size(), 1U);
    const model::RunStatus& status = claimed[0].status;
    EXPECT_EQ(status.state, RunState::kRunning);
    EXPECT_EQ(status.attempt, 1);
    EXPECT_EQ(status.fence, 1);
    EXPECT_FALSE(status.exec_id.empty());
    EXPECT_EQ(status.owner, "w1");
    EXPECT_EQ(status.lease_until, now_ + seconds(30));
    EXPECT_EQ(status.deadline, now_ + seconds(60));
    EXPECT_EQ(status.started_at, now_);
    EXPECT_EQ(Read(claimed[0].id).run, claimed[0]) << "the answer is what is stored";
    EXPECT_TRUE(Claim(10).empty()) << "claimed once";
}

// T-03: not before its time; then in the order of priority and time.
TEST_P(StoreTest, ClaimsWaitForTheirTime) {
    Run later = MakeRun();
    later.status.ready_at = now_ + seconds(10);
    const Uuid id = SubmitOne(later);
    EXPECT_EQ(StateOf(id), RunState::kScheduled);
    EXPECT_TRUE(Claim(1).empty());
    now_ += seconds(9);
    EXPECT_TRUE(Claim(1).empty());
    now_ += seconds(1);
    ASSERT_EQ(Claim(1).size(), 1U);
}

TEST_P(StoreTest, ClaimsGoByPriorityThenTime) {
    std::vector<Run> batch;
    for (const int priority : {5, 1, 9, 5}) {
        batch.push_back(MakeRun());
        batch.back().priority = priority;
        batch.back().status.ready_at = now_ - seconds(10) + seconds(batch.size());
    }
    Submit(batch);
    const auto claimed = Claim(4);
    ASSERT_EQ(claimed.size(), 4U);
    EXPECT_EQ(claimed[0].id, batch[2].id);
    EXPECT_EQ(claimed[1].id, batch[0].id);
    EXPECT_EQ(claimed[2].id, batch[3].id);
    EXPECT_EQ(claimed[3].id, batch[1].id);
}

// Fairness: a run that has waited long enough goes before a new run of higher priority.
TEST_P(StoreTest, WaitingAgesARun) {
    Run low = MakeRun();
    low.priority = 0;
    SubmitOne(low);
    now_ += std::chrono::hours(2);
    Run high = MakeRun();
    high.priority = 9;
    SubmitOne(high);
    const auto claimed = Claim(2);
    ASSERT_EQ(claimed.size(), 2U);
    EXPECT_EQ(claimed[0].id, low.id);
}

// T-03: every filter, alone and together.
TEST_P(StoreTest, ClaimsByFilter) {
    const auto make = [this](const char* tenant, const char* type, const char* category,
                             const char* creator) {
        Run run = MakeRun(type);
        run.tenant = tenant;
        run.category = category;
        run.creator = creator;
        return run;
    };
    const std::vector<Run> batch = {make("default", "a", "", ""), make("acme", "a", "x", "ann"),
                                    make("acme", "b", "x", "bob"), make("default", "b", "y", ""),
                                    make("default", "c", "", "ann")};
    const auto claims = [&](store::ClaimFilter filter) {
        std::set<std::size_t> found;
        for (const Run& run : Claim(10, std::move(filter))) {
            const auto at = std::ranges::find(batch, run.id, &Run::id) - batch.begin();
            EXPECT_TRUE(found.insert(static_cast<std::size_t>(at)).second) << "once";
            EXPECT_EQ(Apply(run.id, {.kind = EventKind::kShutdown, .exec_id = run.status.exec_id})
                          .verdict,
                      EventVerdict::kApplied);
        }
        return found;
    };
    Submit(batch);
    using Set = std::set<std::size_t>;
    EXPECT_EQ(claims({}), (Set{0, 1, 2, 3, 4}));
    EXPECT_EQ(claims({.types = {"a"}}), (Set{0, 1}));
    EXPECT_EQ(claims({.types = {"a", "a"}}), (Set{0, 1}));
    EXPECT_EQ(claims({.types = {"b", "c", "none"}}), (Set{2, 3, 4}));
    EXPECT_EQ(claims({.types = {"b", "c", "b"}}), (Set{2, 3, 4}));
    EXPECT_EQ(claims({.without = {"a", "none"}}), (Set{2, 3, 4}));
    EXPECT_EQ(claims({.types = {"a", "b"}, .without = {"b"}}), (Set{0, 1}));
    EXPECT_EQ(claims({.types = {"a"}, .without = {"a"}}), (Set{}));
    EXPECT_EQ(claims({.without = {"a"}, .tenant = "acme"}), (Set{2}));
    EXPECT_EQ(claims({.tenant = "acme"}), (Set{1, 2}));
    EXPECT_EQ(claims({.tenant = "default"}), (Set{0, 3, 4}));
    EXPECT_EQ(claims({.creator = "ann"}), (Set{1, 4}));
    EXPECT_EQ(claims({.categories = {"x"}}), (Set{1, 2}));
    EXPECT_EQ(claims({.categories = {"x", "y"}}), (Set{1, 2, 3}));
    EXPECT_EQ(claims({.categories = {""}}), (Set{0, 4}));
    EXPECT_EQ(
        claims({.types = {"a", "b"}, .categories = {"x"}, .tenant = "acme", .creator = "bob"}),
        (Set{2}));
    EXPECT_EQ(claims({.types = {"c"}, .tenant = "acme"}), (Set{}));
    EXPECT_EQ(claims({.kind = model::ActionKind::kHttp}), (Set{}));
}

TEST_P(StoreTest, ClaimsByWorkerLabels) {
    Run picky = MakeRun();
    picky.selector = {{"gpu", "yes"}, {"zone", "a"}};
    const Run plain = MakeRun();
    Submit({picky, plain});
    EXPECT_EQ(Claim(10, {.labels = {{"gpu", "yes"}}}).size(), 1U) << "the plain one";
    EXPECT_TRUE(Claim(10, {.labels = {{"gpu", "yes"}, {"zone", "b"}}}).empty());
    const auto claimed = Claim(10, {.labels = {{"gpu", "yes"}, {"zone", "a"}, {"disk", "big"}}});
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].id, picky.id);
}

// By rank over runs for any worker and runs for this worker.
TEST_P(StoreTest, ASelectorDoesNotChangeTheOrder) {
    std::vector<Uuid> expected;
    for (int i = 0; i < 12; ++i) {
        now_ += seconds(1);
        Run run = MakeRun(i % 2 == 0 ? "a" : "b");
        if (i % 3 == 1) run.selector = {{"gpu", "yes"}};
        if (i % 3 == 2) run.selector = {{"gpu", "no"}};
        SubmitOne(run);
        if (i % 3 != 2) expected.push_back(run.id);
    }
    EXPECT_EQ(runs().Depths()->size(), 2U);
    std::vector<Uuid> claimed;
    for (const Run& run : Claim(20, {.labels = {{"gpu", "yes"}, {"zone", "eu"}}})) {
        claimed.push_back(run.id);
    }
    EXPECT_EQ(claimed, expected);
    EXPECT_TRUE(Claim(20).empty());
    EXPECT_EQ(Claim(20, {.types = {"a", "a"}, .labels = {{"gpu", "no"}}}).size(), 2U);
}

// The polls of several agents share a transaction: no run is given to two of them.
TEST_P(StoreTest, ManyClaimsInOneTransaction) {
    std::vector<Run> batch;
    for (int i = 0; i < 5; ++i) batch.push_back(MakeRun("a"));
    batch.push_back(MakeRun("b"));
    Submit(batch);
    store::ExchangeParams params{.now = now_};
    const auto claim = [&](const char* owner, const char* type, std::size_t limit) {
        params.more_claims.push_back({.filter = {.types = {type}}, .owner = owner, .limit = limit});
    };
    claim("one", "a", 2);
    claim("two", "a", 1);
    claim("three", "a", 4);
    claim("four", "a", 1);
    claim("five", "b", 1);
    claim("six", "b", 1);
    const auto exchanged = runs().Exchange(params);
    ASSERT_TRUE(exchanged) << exchanged.error().Describe();
    std::vector<std::size_t> counts;
    std::set<Uuid> seen;
    for (std::size_t i = 0; i < exchanged->more_claimed.size(); ++i) {
        counts.push_back(exchanged->more_claimed[i].runs.size());
        for (const Run& run : exchanged->more_claimed[i].runs) {
            EXPECT_TRUE(seen.insert(run.id).second) << "given twice";
            EXPECT_EQ(Read(run.id).run.status.owner, params.more_claims[i].owner);
            EXPECT_EQ(Read(run.id).run.status.exec_id, run.status.exec_id);
        }
    }
    EXPECT_EQ(counts, (std::vector<std::size_t>{2, 1, 2, 0, 1, 0}));
}

TEST_P(StoreTest, AClaimIsCutAtItsLimit) {
    std::vector<Run> batch;
    for (int i = 0; i < 10; ++i) batch.push_back(MakeRun(i % 2 == 0 ? "a" : "b"));
    Submit(batch);
    auto first = runs().Claim({.owner = "w", .limit = 7}, now_);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->runs.size(), 7U);
    EXPECT_TRUE(first->more);
    auto second = runs().Claim({.owner = "w", .limit = 7}, now_);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->runs.size(), 3U);
    EXPECT_FALSE(second->more);
}

}  // namespace
}  // namespace ksana::conformance

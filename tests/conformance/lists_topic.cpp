// Lists: filters, sorts, search, cursors under inserts, counts, history.
#include <algorithm>

#include "conformance/store_fixture.hpp"
#include "ksana/store/page.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;
using store::JobSort;
using store::RunSort;

// A cursor stays valid while rows are inserted, ended and deleted: a run that exists throughout is
// listed exactly once.
TEST_P(StoreTest, CursorsStayRightUnderInserts) {
    for (const bool descending : {true, false}) {
        std::vector<Run> batch;
        for (int i = 0; i < 40; ++i) batch.push_back(MakeRun());
        Submit(batch);
        std::set<Uuid> stay;
        for (std::size_t i = 0; i < batch.size(); i += 2) stay.insert(batch[i].id);
        std::multiset<Uuid> seen;
        store::RunQuery query{.descending = descending, .limit = 7};
        std::size_t victim = 1;
        for (;;) {
            auto page = runs().List(query);
            ASSERT_TRUE(page) << page.error().Describe();
            for (const Run& run : page->items) seen.insert(run.id);
            if (page->next.empty()) break;
            query.cursor = page->next;
            SubmitOne(MakeRun());
            Run old = MakeRun();
            old.id.bytes[0] = 0;  // sorts before all others
            SubmitOne(old);
            Apply(batch[victim].id, {.kind = EventKind::kCancel});
            victim += 2;
        }
        for (const Uuid& id : stay) EXPECT_EQ(seen.count(id), 1U);
        for (const Uuid& id : seen) EXPECT_EQ(seen.count(id), 1U);
        now_ += minutes(1);
    }
}

// History: final runs are found in the same lists.
TEST_P(StoreTest, ListsReachHistory) {
    Submit({MakeRun("a"), MakeRun("b"), MakeRun("c")});
    const auto claimed = Claim(2);
    Report(claimed[0], EventKind::kSuccess);
    now_ += seconds(1);
    Report(claimed[1], EventKind::kPermanentFailure, "Connection REFUSED by peer");
    EXPECT_EQ(ListAll().size(), 3U);
    const auto states = [&](model::RunStates wanted) {
        return ListAll({.filter = {.states = wanted}}).size();
    };
    EXPECT_EQ(states(model::SetOf(RunState::kSucceeded)), 1U);
    EXPECT_EQ(states(model::kUnfinishedStates), 1U);
    EXPECT_EQ(states(model::SetOf(RunState::kFailed) | model::SetOf(RunState::kQueued)), 2U);
    EXPECT_EQ(states(model::SetOf(RunState::kHeld)), 0U);
    const auto finished = ListAll({.sort = RunSort::kFinished});
    ASSERT_EQ(finished.size(), 2U);
    EXPECT_EQ(finished[0].id, claimed[1].id) << "the latest first";
    EXPECT_EQ(ListAll({.filter = {.finished_from = now_}}).size(), 1U);
    EXPECT_EQ(ListAll({.filter = {.finished_until = now_}}).size(), 1U);
    EXPECT_EQ(ListAll({.filter = {.text = "refused"}}).size(), 1U);
}

TEST_P(StoreTest, RunsByEveryFilter) {
    Run one = MakeRun("alpha");
    one.tenant = "acme";
    one.job_id = "j1";
    one.category = "bulk";
    one.creator = "ann";
    one.kind = model::ActionKind::kHttp;
    one.trigger = model::RunTrigger::kManual;
    one.parent = ids_.Next();
    const Run two = MakeRun("beta");
    for (const bool over : {false, true}) {
        one.id = ids_.Next();
        Run other = two;
        other.id = ids_.Next();
        Submit({one, other});
        if (over) {
            Apply(one.id, {.kind = EventKind::kCancel});
            Apply(other.id, {.kind = EventKind::kCancel});
        }
        const store::RunFilter filters[] = {
            {.tenant = "acme"},     {.job_id = "j1"},
            {.type = "alpha"},      {.category = "bulk"},
            {.creator = "ann"},     {.kind = model::ActionKind::kHttp},
            {.parent = one.parent}, {.trigger = model::RunTrigger::kManual},
            {.text = "ALPHA ann"},  {.tenant = "acme", .type = "alpha", .text = "bul"}};
        for (std::size_t i = 0; i < std::size(filters); ++i) {
            const auto found = ListAll({.filter = filters[i]});
            ASSERT_EQ(found.size(), over ? 2U : 1U) << i;
            EXPECT_EQ(found[0].id, one.id) << i;
            EXPECT_EQ(*runs().Count(filters[i], 100), over ? 2 : 1) << i;
        }
        EXPECT_TRUE(ListAll({.filter = {.tenant = "acme", .type = "beta"}}).empty());
        EXPECT_TRUE(ListAll({.filter = {.text = "alpha bet"}}).empty());
    }
    EXPECT_EQ(*runs().Count({}, 3), 3) << "counting stops where it is told";
    EXPECT_EQ(*runs().Count({}, 100), 4);
    EXPECT_EQ(ListAll({.filter = {.owner = "w1"}}).size(), 0U);
}

TEST_P(StoreTest, RunsByReadyTime) {
    std::vector<Run> batch;
    for (const int at : {30, 10, 20, 10}) {
        batch.push_back(MakeRun());
        batch.back().status.ready_at = now_ + seconds(at);
    }
    Submit(batch);
    const auto up = ListAll({.sort = RunSort::kReady, .descending = false});
    ASSERT_EQ(up.size(), 4U);
    EXPECT_TRUE(std::ranges::is_sorted(
        up, {}, [](const Run& run) { return std::pair(run.status.ready_at, run.id); }));
    auto down = ListAll({.sort = RunSort::kReady, .descending = true});
    std::ranges::reverse(down);
    EXPECT_EQ(down, up);
}

TEST_P(StoreTest, ACursorOfAnotherOrderIsRefused) {
    Submit({MakeRun(), MakeRun()});
    const std::string cursor = runs().List({.limit = 1})->next;
    ASSERT_FALSE(cursor.empty());
    const store::RunQuery bad[] = {{.descending = false, .limit = 1, .cursor = cursor},
                                   {.sort = RunSort::kReady, .limit = 1, .cursor = cursor},
                                   {.limit = 1, .cursor = "nonsense"},
                                   {.limit = 1, .cursor = cursor + "x"},
                                   {.limit = 0},
                                   {.limit = store::kMaxPageSize + 1}};
    for (const store::RunQuery& query : bad) {
        EXPECT_EQ(runs().List(query).error().code, Code::kInvalidArgument) << query.cursor;
    }
}

TEST_P(StoreTest, SortsAndFilters) {
    const char* names[] = {"delta", "Alpha", "charlie", "bravo", "alpha"};
    for (int i = 0; i < 5; ++i) {
        model::Job job = MakeJob("j" + std::to_string(i));
        job.name = names[i];
        job.state.next_run_at = now_ + minutes(10 - i);
        if (i == 2) job.state.next_run_at.reset();
        job.group = i % 2 == 0 ? "even" : "odd";
        job.owner = i == 3 ? "Ann" : "bob";
        job.enabled = i != 4;
        job.tenant = i == 0 ? "acme" : "default";
        job.labels = {{"n", std::to_string(i % 2)}, {"all", "yes"}};
        if (i == 1) job.action = model::QueueAction{.type = "mail"};
        now_ += seconds(1);
        Create(job);
    }
    EXPECT_EQ(Ids({}), (Strings{"j0", "j1", "j2", "j3", "j4"}));
    EXPECT_EQ(Ids({.descending = true}), (Strings{"j4", "j3", "j2", "j1", "j0"}));
    EXPECT_EQ(Ids({.sort = JobSort::kName}), (Strings{"j1", "j4", "j3", "j2", "j0"}))
        << "by bytes, the same on every store";
    EXPECT_EQ(Ids({.sort = JobSort::kNextRun}), (Strings{"j4", "j3", "j1", "j0", "j2"}));
    EXPECT_EQ(Ids({.sort = JobSort::kNextRun, .descending = true}),
              (Strings{"j2", "j0", "j1", "j3", "j4"}));
    EXPECT_EQ(Ids({.sort = JobSort::kCreated, .descending = true}),
              (Strings{"j4", "j3", "j2", "j1", "j0"}));
    EXPECT_EQ(Ids({.sort = JobSort::kLastRun}), Ids({})) << "none has run: ids break ties";
    const std::string name = jobs().Get("j3")->name;
    EXPECT_EQ(Ids({.filter = {.name = name}}), (Strings{"j3"}));
    EXPECT_EQ(Ids({.filter = {.name = name}, .sort = JobSort::kUpdated}), (Strings{"j3"}));
    EXPECT_EQ(Ids({.filter = {.name = name.substr(1)}}), (Strings{})) << "the whole name";
    EXPECT_EQ(Ids({.filter = {.group = "even"}}), (Strings{"j0", "j2", "j4"}));
    EXPECT_EQ(Ids({.filter = {.owner = "Ann"}}), (Strings{"j3"}));
    EXPECT_EQ(Ids({.filter = {.enabled = false}}), (Strings{"j4"}));
    EXPECT_EQ(Ids({.filter = {.tenant = "acme"}}), (Strings{"j0"}));
    EXPECT_EQ(Ids({.filter = {.kind = model::ActionKind::kQueue}}), (Strings{"j1"}));
    EXPECT_EQ(Ids({.filter = {.type = "mail"}}), (Strings{"j1"}));
    EXPECT_EQ(Ids({.filter = {.labels = {{"n", "1"}, {"all", "yes"}}}}), (Strings{"j1", "j3"}));
    EXPECT_EQ(Ids({.filter = {.labels = {{"n", "7"}}}}), (Strings{}));
    EXPECT_EQ(Ids({.filter = {.text = "ALPH"}}), (Strings{"j1", "j4"}));
    EXPECT_EQ(Ids({.filter = {.text = "ann brav"}}), (Strings{"j3"}));
    EXPECT_EQ(Ids({.filter = {.text = "100%_"}}), (Strings{})) << "no wildcards";
    EXPECT_EQ(Ids({.filter = {.last_state = RunState::kFailed}}), (Strings{}));
    EXPECT_EQ(*jobs().Count({.group = "odd"}, 10), 2);
    EXPECT_EQ(*jobs().Count({}, 3), 3);
}

TEST_P(StoreTest, CursorsStayRightWhileJobsChange) {
    for (int i = 10; i < 30; ++i) Create(MakeJob("j" + std::to_string(i)));
    std::multiset<std::string> seen;
    store::JobQuery query{.sort = JobSort::kName, .limit = 3};
    for (int i = 0;; ++i) {
        auto page = jobs().List(query);
        ASSERT_TRUE(page);
        for (const model::Job& job : page->items) seen.insert(job.id);
        if (page->next.empty()) break;
        query.cursor = page->next;
        Create(MakeJob("a" + std::to_string(i)));
        ASSERT_TRUE(jobs().Delete({.id = "a" + std::to_string(i)}));
    }
    for (int i = 10; i < 30; ++i) EXPECT_EQ(seen.count("j" + std::to_string(i)), 1U);
}

// G-16, T-12: old runs are deleted with their attempts, a few at a time.
TEST_P(StoreTest, PurgeDeletesWhatIsOld) {
    std::vector<Uuid> ids;
    for (int i = 0; i < 6; ++i) {
        now_ += minutes(1);
        Run run = MakeRun();
        run.unique = {.key = "k" + std::to_string(i), .states = model::kAllStates};
        ids.push_back(SubmitOne(run));
        const Run first = ClaimOne();
        Report(first, EventKind::kRetryableFailure, "x");
        now_ += minutes(1);
        Report(ClaimOne(), i == 0 ? EventKind::kPermanentFailure : EventKind::kSuccess);
    }
    SubmitOne(MakeRun());
    EXPECT_EQ(store().records().Counts()->attempts, 6);
    const TimePoint before = *Read(ids[4]).run.status.finished_at;
    EXPECT_EQ(
        *runs().Purge(
            {.finished_before = before, .states = model::SetOf(RunState::kSucceeded), .limit = 2}),
        2U);
    EXPECT_EQ(runs().Get(ids[1]).error().code, Code::kNotFound);
    EXPECT_EQ(
        *runs().Purge({.finished_before = before, .states = model::SetOf(RunState::kSucceeded)}),
        1U);
    EXPECT_EQ(StateOf(ids[0]), RunState::kFailed);
    EXPECT_EQ(*runs().Purge({.finished_before = before}), 1U);
    EXPECT_EQ(*runs().Count({}, 100), 3);
    EXPECT_EQ(store().records().Counts()->attempts, 2);
    Run again = MakeRun();
    again.unique.key = "k1";
    EXPECT_EQ(Submit({again})[0].verdict, store::SubmitVerdict::kStored) << "its key is free";
    again = MakeRun();
    again.unique.key = "k5";
    EXPECT_EQ(Submit({again})[0].verdict, store::SubmitVerdict::kSameKey);
}

TEST_P(StoreTest, AListGoesOnAfterAnyOfItsRuns) {
    for (int i = 0; i < 5; ++i) SubmitOne(MakeRun());
    const auto all = runs().List({});
    ASSERT_EQ(all->items.size(), 5U);
    EXPECT_EQ(runs().List({.limit = 2})->next, store::RunsAfter(all->items[1].id));
    const auto rest = runs().List({.cursor = store::RunsAfter(all->items[2].id)});
    ASSERT_EQ(rest->items.size(), 2U);
    EXPECT_EQ(rest->items[0].id, all->items[3].id);
}

// Purge deletes the runs that ended first, whatever their state.
TEST_P(StoreTest, PurgeBeginsWithTheOldest) {
    std::vector<Uuid> ids;
    for (const EventKind end : {EventKind::kPermanentFailure, EventKind::kSuccess,
                                EventKind::kPermanentFailure, EventKind::kSuccess}) {
        now_ += minutes(1);
        ids.push_back(SubmitOne(MakeRun()));
        Report(ClaimOne(), end);
    }
    const TimePoint later = now_ + minutes(1);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(*runs().Purge({.finished_before = later, .limit = 1}), 1U);
        EXPECT_EQ(runs().Get(ids[i]).error().code, Code::kNotFound) << i;
        EXPECT_EQ(*runs().Count({}, 100), static_cast<std::int64_t>(ids.size() - i - 1));
    }
}

// The audit event is stored with the deletion, and only if something is deleted.
TEST_P(StoreTest, PurgeKeepsItsAuditEvent) {
    SubmitOne(MakeRun());
    Report(ClaimOne(), EventKind::kSuccess);
    model::AuditEvent event;
    event.action = "purged";
    event.resource_type = "run";
    event.user = "ann";
    for (const std::size_t expected : {1U, 0U}) {
        EXPECT_EQ(*runs().Purge({.finished_before = now_ + minutes(1), .audit = event}), expected);
        const auto events = store().events().List({.filter = {.action = "purged"}});
        ASSERT_TRUE(events);
        ASSERT_EQ(events->items.size(), 1U);
        EXPECT_EQ(events->items[0].user, "ann");
    }
}

}  // namespace
}  // namespace ksana::conformance

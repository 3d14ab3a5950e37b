#include <algorithm>

#include "conformance/store_fixture.hpp"

// An audit event is stored in the transaction of the change it describes (G-11), and a deleted run
// stays accounted for.

namespace ksana::conformance {
namespace {

using model::AuditEvent;
using model::EventKind;
using model::FireFate;
using model::RunState;
using store::WriteMode;

AuditEvent Did(const std::string& action, const std::string& resource = "j") {
    AuditEvent event;
    event.action = action;
    event.user = "ada";
    event.resource_type = "job";
    event.resource_id = resource;
    event.data = R"({"reason":"because"})";
    event.client_ip = "10.0.0.1";
    event.method = "POST /x";
    return event;
}

std::vector<AuditEvent> EventsOf(store::Store& store) {
    const auto page = store.events().List({.filter = {}, .descending = false});
    EXPECT_TRUE(page) << page.error().Describe();
    return page ? page->items : std::vector<AuditEvent>{};
}

std::vector<std::string> ActionsOf(store::Store& store) {
    std::vector<std::string> actions;
    for (const AuditEvent& event : EventsOf(store)) actions.push_back(event.action);
    return actions;
}

std::vector<model::LedgerEntry> LedgerOf(store::Store& store, const std::string& job_id) {
    const auto page = store.jobs().Ledger({.job_id = job_id});
    EXPECT_TRUE(page) << page.error().Describe();
    return page ? page->items : std::vector<model::LedgerEntry>{};
}

TEST_P(StoreTest, AWrittenJobHasItsEventAndARefusedOneHasNone) {
    auto outcomes = jobs().Write(
        {.now = now_,
         .writes = {{.job = MakeJob("a"), .audit = Did("created", "a")},
                    {.job = MakeJob("b"), .mode = WriteMode::kReplace, .audit = Did("changed")},
                    {.job = MakeJob("c")}}});
    ASSERT_TRUE(outcomes);
    EXPECT_TRUE(outcomes->at(0));
    EXPECT_FALSE(outcomes->at(1));
    EXPECT_TRUE(outcomes->at(2));
    const auto events = EventsOf(store());
    ASSERT_EQ(events.size(), 1U);
    AuditEvent expected = Did("created", "a");
    expected.at = now_;
    expected.seq = events[0].seq;
    EXPECT_EQ(events[0], expected);
    EXPECT_GT(events[0].seq, 0);
    ASSERT_FALSE(jobs().Delete(
        {.now = now_, .id = "a", .expected_version = 7, .audit = Did("deleted", "a")}));
    EXPECT_EQ(EventsOf(store()).size(), 1U);
    ASSERT_TRUE(jobs().Delete({.now = now_, .id = "a", .audit = Did("deleted", "a")}));
    EXPECT_EQ(ActionsOf(store()), (std::vector<std::string>{"created", "deleted"}));
    if (!harness_->Reopen()) return;
    EXPECT_EQ(ActionsOf(store()), (std::vector<std::string>{"created", "deleted"}));
}

TEST_P(StoreTest, ASubmittedRunHasItsEventOnce) {
    const Run run = MakeRun();
    for (int i = 0; i < 2; ++i) {
        const auto outcome = runs().Submit({.now = now_, .runs = {run}, .audit = Did("run_now")});
        ASSERT_TRUE(outcome) << outcome.error().Describe();
    }
    EXPECT_EQ(ActionsOf(store()), std::vector<std::string>{"run_now"});
}

TEST_P(StoreTest, AnAppliedEventIsKeptAndARefusedOneIsNot) {
    const Uuid id = SubmitOne(MakeRun());
    for (int i = 0; i < 2; ++i) {
        const auto applied =
            runs().Apply({{id, {.kind = EventKind::kCancel}}}, now_, Did("cancelled"));
        ASSERT_TRUE(applied) << applied.error().Describe();
    }
    EXPECT_EQ(ActionsOf(store()), std::vector<std::string>{"cancelled"});
    ASSERT_TRUE(
        runs().Apply({{ids_.Next(), {.kind = EventKind::kCancel}}}, now_, Did("cancelled")));
    EXPECT_EQ(EventsOf(store()).size(), 1U);
}

TEST_P(StoreTest, ASettingIsWrittenWithItsEvent) {
    const auto put = [&](store::ExpectedVersion expected) {
        return store().settings().Put({.key = "k",
                                       .value = "1",
                                       .expected = expected,
                                       .expires_at = {},
                                       .audit = Did("created", "k")});
    };
    ASSERT_TRUE(put(0));
    EXPECT_FALSE(put(0));
    EXPECT_EQ(ActionsOf(store()), std::vector<std::string>{"created"});
    auto& settings = store().settings();
    EXPECT_FALSE(settings.Delete("k", 7, Did("deleted", "k")));
    AuditEvent bad = Did("deleted", "k");
    bad.user = "\xff";
    EXPECT_EQ(settings.Delete("k", 1, bad).error().code, Code::kInvalidArgument);
    EXPECT_TRUE(settings.Get("k"));
    ASSERT_TRUE(settings.Delete("k", 1, Did("deleted", "k")));
    EXPECT_FALSE(settings.Delete("k", std::nullopt, Did("deleted", "k")));
    EXPECT_EQ(ActionsOf(store()), (std::vector<std::string>{"created", "deleted"}));
}

TEST_P(StoreTest, ATypeIsWrittenAndDeletedWithItsEvent) {
    auto& types = store().types();
    ASSERT_TRUE(types.Put({.type = {.code = "t"}, .expected = 0, .audit = Did("created", "t")}));
    EXPECT_FALSE(types.Put({.type = {.code = "t"}, .expected = 0, .audit = Did("again", "t")}));
    EXPECT_FALSE(types.Delete({.code = "t", .expected = 7, .audit = Did("missed", "t")}));
    EXPECT_EQ(ActionsOf(store()), std::vector<std::string>{"created"});
    ASSERT_TRUE(types.Delete({.code = "t", .expected = 1, .audit = Did("deleted", "t")}));
    EXPECT_EQ(ActionsOf(store()), (std::vector<std::string>{"created", "deleted"}));
    if (!harness_->Reopen()) return;
    EXPECT_EQ(ActionsOf(store()), (std::vector<std::string>{"created", "deleted"}));
    EXPECT_FALSE(store().types().Get("t"));
}

// Times mostly rise with seq, but imports contain other times, and clocks are set back. The seqs
// are near the block limits of the drivers, and far away.
std::vector<AuditEvent> EventsOutOfOrder(TimePoint now) {
    const std::vector<std::int64_t> seqs = {1,
                                            2,
                                            4094,
                                            4095,
                                            4096,
                                            4097,
                                            8191,
                                            8192,
                                            8193,
                                            12'000,
                                            20'479,
                                            20'480,
                                            20'481,
                                            40'000,
                                            81'919,
                                            1LL << 40,
                                            (1LL << 40) + 1,
                                            1LL << 61,
                                            (1LL << 61) + 5};
    std::vector<AuditEvent> events;
    for (std::size_t i = 0; i < seqs.size(); ++i) {
        AuditEvent& event = events.emplace_back(Did("a" + std::to_string(i)));
        event.seq = seqs[i];
        event.at = now + std::chrono::seconds(i);
        event.user = i % 3 == 0 ? "ann" : "bob";
    }
    events[1].at = now + std::chrono::seconds(100);  // a clock that was ahead
    events[7].at = now - std::chrono::seconds(5);    // a clock that was set back
    events[8].at = now - std::chrono::seconds(4);
    events[16].at = now - std::chrono::seconds(100);
    return events;
}

TEST_P(StoreTest, EventsOfASpanOfTimeAreFoundWhateverTheirOrder) {
    const std::vector<AuditEvent> events = EventsOutOfOrder(now_);
    ASSERT_TRUE(store().records().Add({events.begin(), events.end()}));
    const auto walk = [&](store::EventQuery query) {
        std::vector<std::string> actions;
        for (std::size_t pages = 0; pages <= events.size(); ++pages) {
            const auto page = store().events().List(query);
            if (!page) {
                ADD_FAILURE() << page.error().Describe();
                return actions;
            }
            for (const AuditEvent& event : page->items) actions.push_back(event.action);
            if (page->next.empty()) return actions;
            query.cursor = page->next;
        }
        ADD_FAILURE() << "it does not end";
        return actions;
    };
    const auto expected = [&](const store::EventQuery& query) {
        std::vector<std::string> actions;
        for (const AuditEvent& event : events) {
            if (query.filter.from && event.at < *query.filter.from) continue;
            if (query.filter.until && event.at >= *query.filter.until) continue;
            if (!query.filter.user.empty() && event.user != query.filter.user) continue;
            actions.push_back(event.action);
        }
        if (query.descending) std::ranges::reverse(actions);
        return actions;
    };
    std::vector<std::optional<TimePoint>> times = {{}};
    for (const int second : {-200, -100, -4, 0, 3, 8, 11, 18, 100, 200}) {
        times.emplace_back(now_ + std::chrono::seconds(second));
    }
    for (const auto& from : times) {
        for (const auto& until : times) {
            for (const char* user : {"", "ann"}) {
                for (const std::size_t limit : {std::size_t{1}, std::size_t{4}, events.size()}) {
                    for (const bool descending : {false, true}) {
                        const store::EventQuery query{
                            .filter = {.user = user, .from = from, .until = until},
                            .descending = descending,
                            .limit = limit};
                        EXPECT_EQ(walk(query), expected(query));
                    }
                }
            }
        }
    }
}

TEST_P(StoreTest, AnEventThatNoStoreCouldKeepChangesNothing) {
    AuditEvent bad = Did("created");
    bad.user = "\xff";
    auto outcomes = jobs().Write({.now = now_, .writes = {{.job = MakeJob("a"), .audit = bad}}});
    ASSERT_TRUE(outcomes);
    ASSERT_FALSE(outcomes->at(0));
    EXPECT_EQ(outcomes->at(0).error().code, Code::kInvalidArgument);
    EXPECT_FALSE(jobs().Get("a"));
    const auto submitted = runs().Submit({.now = now_, .runs = {MakeRun()}, .audit = bad});
    ASSERT_FALSE(submitted);
    EXPECT_EQ(submitted.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(EventsOf(store()).empty());
}

TEST_P(StoreTest, OnlyWhatIsOverCanBeDeleted) {
    const Uuid id = SubmitOne(MakeRun());
    auto refused = DeleteRun(id, Did("deleted"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    const Run running = ClaimOne();
    EXPECT_EQ(DeleteRun(id).error().code, Code::kConflict);
    EXPECT_EQ(StateOf(id), RunState::kRunning);
    Report(running, EventKind::kRetryableFailure, "no");
    EXPECT_EQ(DeleteRun(id).error().code, Code::kConflict) << "it waits for its next attempt";
    now_ += std::chrono::seconds(10);
    Report(ClaimOne(), EventKind::kSuccess);
    ASSERT_EQ(Read(id).attempts.size(), 2U);
    EXPECT_TRUE(EventsOf(store()).empty());
    const auto deleted = DeleteRun(id, Did("deleted"));
    ASSERT_TRUE(deleted) << deleted.error().Describe();
    EXPECT_EQ(runs().Get(id).error().code, Code::kNotFound);
    EXPECT_EQ(DeleteRun(id, Did("deleted")).error().code, Code::kNotFound);
    EXPECT_EQ(ActionsOf(store()), std::vector<std::string>{"deleted"});
    EXPECT_EQ(store().records().Counts()->attempts, 0);
    EXPECT_TRUE(store().runs().List({})->items.empty());
    if (!harness_->Reopen()) return;
    EXPECT_EQ(runs().Get(id).error().code, Code::kNotFound);
}

TEST_P(StoreTest, ADeletedFireIsInTheLedger) {
    const model::Job job = Create(MakeJob("j"));
    const Run fire = Finish(MakeFire(job, now_));
    const Run manual = [&] {
        Run run = MakeFire(job, now_);
        run.nominal_at.reset();
        run.trigger = model::RunTrigger::kManual;
        return Finish(run);
    }();
    ASSERT_TRUE(DeleteRun(manual.id));
    EXPECT_TRUE(LedgerOf(store(), "j").empty()) << "it was no fire";
    EXPECT_EQ(*jobs().FindFires("j", {now_, now_ + std::chrono::hours(1)}),
              std::vector<TimePoint>{now_});
    ASSERT_TRUE(DeleteRun(fire.id));
    const auto entries = LedgerOf(store(), "j");
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].range.fate, FireFate::kDeleted);
    EXPECT_EQ(entries[0].range.range.count, 1);
    EXPECT_EQ(entries[0].range.range.first, now_);
    EXPECT_EQ(entries[0].range.range.last, now_);
    EXPECT_EQ(entries[0].recorded_at, now_);
    EXPECT_EQ(*jobs().FindFires("j", {now_}), std::vector<TimePoint>{});
    // The pair of job and nominal time is free, so a backfill may make the run again.
    EXPECT_EQ(Submit({MakeFire(job, now_)}).at(0).verdict, store::SubmitVerdict::kStored);
}

TEST_P(StoreTest, ADeletedRunGivesItsKeyBack) {
    Run run = MakeRun();
    run.unique = {.key = "k", .states = model::kAllStates, .until = {}};
    Finish(run);
    Run second = MakeRun();
    second.unique = run.unique;
    EXPECT_EQ(Submit({second}).at(0).verdict, store::SubmitVerdict::kSameKey);
    ASSERT_TRUE(DeleteRun(run.id));
    EXPECT_EQ(Submit({second}).at(0).verdict, store::SubmitVerdict::kStored);
}

}  // namespace
}  // namespace ksana::conformance

// Large and hostile values, unique keys, and invalid input.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;
using store::SubmitVerdict;

// A character of every Unicode plane that has any, and text that is difficult for SQL and JSON.
std::string Hostile() {
    std::string text = "'; DROP TABLE runs; -- \" \\ % _ \x01\x1f\x7f {{x}} \r\n\t";
    text += "\u00e9\u4e2d\uFEFF\uFFFD\u202e";
    text += "\U0001F600\U00020000\U00030000\U000E0001\U000F0000\U0010FFFD";
    return text;
}

TEST_P(StoreTest, HostileTextComesBack) {
    Run run = MakeRun(Hostile());
    run.category = Hostile();
    run.creator = Hostile();
    run.payload = Hostile();
    run.selector = {{Hostile(), Hostile()}};
    run.unique.key = Hostile();
    SubmitOne(run);
    EXPECT_EQ(Read(run.id).run.type, run.type);
    EXPECT_EQ(Read(run.id).run.payload, run.payload);
    EXPECT_EQ(Read(run.id).run.selector, run.selector);
    EXPECT_EQ(Read(run.id).run.unique, run.unique);
    const auto claimed = Claim(1, {.types = {Hostile()},
                                   .categories = {Hostile()},
                                   .creator = Hostile(),
                                   .labels = {{Hostile(), Hostile()}}});
    ASSERT_EQ(claimed.size(), 1U);
    Apply(run.id, {.kind = EventKind::kSuccess,
                   .exec_id = claimed[0].status.exec_id,
                   .result = Hostile(),
                   .detail = Hostile()});
    EXPECT_EQ(Read(run.id).run.status.result, Hostile());
    EXPECT_EQ(Read(run.id).attempts.at(0).detail, Hostile());
    EXPECT_EQ(ListAll({.filter = {.type = Hostile()}}).size(), 1U);
    EXPECT_EQ(ListAll({.filter = {.text = "drop TABLE \U0001F600"}}).size(), 1U);

    model::Job job = MakeJob("j'1\"" + std::string("\U0001F600"));
    job.name = Hostile();
    job.description = Hostile();
    job.labels = {{Hostile(), Hostile()}};
    Create(job);
    EXPECT_EQ(jobs().Get(job.id)->name, Hostile());
    EXPECT_EQ(jobs().Get(job.id)->labels, job.labels);
    EXPECT_EQ(jobs().List({.filter = {.labels = job.labels}})->items.size(), 1U);
}

TEST_P(StoreTest, AMegabyteComesBack) {
    Run run = MakeRun();
    run.payload.clear();
    while (run.payload.size() < store::kMaxPayload - 8) run.payload += "\u4e2dabc\n";
    SubmitOne(run);
    const Run claimed = ClaimOne();
    EXPECT_EQ(claimed.payload, run.payload);
    Apply(run.id,
          {.kind = EventKind::kSuccess, .exec_id = claimed.status.exec_id, .result = run.payload});
    EXPECT_EQ(Read(run.id).run.payload, run.payload);
    EXPECT_EQ(Read(run.id).run.status.result, run.payload);
}

// Text that some driver could not store is refused by all, with its path, and nothing is stored.
TEST_P(StoreTest, WhatCannotBeKeptIsRefused) {
    const std::string nul("a\0b", 3);
    const auto refused = [&](const std::function<void(Run&)>& spoil, const std::string& path) {
        Run bad = MakeRun();
        spoil(bad);
        auto outcome = runs().Submit({.now = now_, .runs = {MakeRun(), bad}});
        ASSERT_FALSE(outcome) << path;
        EXPECT_EQ(outcome.error().code, Code::kInvalidArgument);
        ASSERT_EQ(outcome.error().problems.size(), 1U) << outcome.error().Describe();
        EXPECT_EQ(outcome.error().problems[0].path, "/runs/1" + path);
    };
    refused([&](Run& run) { run.payload = nul; }, "/payload");
    refused([&](Run& run) { run.type = nul; }, "/type");
    refused([](Run& run) { run.creator = "\xff\xfe"; }, "/creator");
    refused([](Run& run) { run.payload = "\xed\xa0\x80"; }, "/payload");
    refused([](Run& run) { run.payload.assign(store::kMaxPayload + 1, 'x'); }, "/payload");
    refused([](Run& run) { run.priority = 10; }, "/priority");
    refused([](Run& run) { run.priority = -1; }, "/priority");
    refused([](Run& run) { run.status.state = RunState::kSucceeded; }, "/status/state");
    refused([](Run& run) { run.tenant.clear(); }, "/tenant");
    EXPECT_EQ(*runs().Count({}, 10), 0) << "nothing of a refused batch is stored";

    SubmitOne(MakeRun());
    const Run run = ClaimOne();
    auto report = runs().Apply(
        {{run.id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id, .result = nul}}},
        now_);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().problems.at(0).path, "/events/0/result");
    EXPECT_EQ(StateOf(run.id), RunState::kRunning);
    EXPECT_EQ(runs().Claim({.owner = "", .limit = 1}, now_).error().code, Code::kInvalidArgument);
    EXPECT_EQ(runs().Claim({.owner = "w", .limit = 0}, now_).error().code, Code::kInvalidArgument);
    EXPECT_EQ(
        runs().Submit({.now = now_, .runs = std::vector<Run>(store::kMaxBatch + 1)}).error().code,
        Code::kInvalidArgument);
}

// An import adds records unchanged. Records that no store could have made are refused by all
// drivers, with the record and the field, and nothing of the batch is stored.
TEST_P(StoreTest, RecordsThatNoStoreMadeAreRefused) {
    const std::string nul("a\0b", 3);
    const auto refused = [&](const model::Record& bad, const std::string& path,
                             const std::string& name) {
        const auto added = store().records().Add({MakeRun(), bad});
        ASSERT_FALSE(added) << path;
        EXPECT_EQ(added.error().code, Code::kInvalidArgument);
        ASSERT_EQ(added.error().problems.size(), 1U) << added.error().Describe();
        EXPECT_EQ(added.error().problems[0].path, "/records/1" + path);
        EXPECT_TRUE(added.error().problems[0].message.starts_with(name + ": "))
            << added.error().Describe();
    };
    const auto run = [&](const std::function<void(Run&)>& spoil, const std::string& path) {
        Run bad = MakeRun();
        spoil(bad);
        refused(bad, path, "run " + bad.id.ToString());
    };
    run([](Run& bad) { bad.status.state = RunState::kRunning; }, "/status/lease_until");
    for (const RunState state : {RunState::kSucceeded, RunState::kSkipped, RunState::kMissed}) {
        run([&](Run& bad) { bad.status.state = state; }, "/status/finished_at");
    }
    run([&](Run& bad) { bad.type = nul; }, "/type");
    run([&](Run& bad) { bad.unique.key = nul; }, "/unique/key");
    run([&](Run& bad) { bad.status.owner = nul; }, "/status/owner");
    run([](Run& bad) { bad.status.result = "\xff"; }, "/status/result");
    run([](Run& bad) { bad.payload = "\xed\xa0\x80"; }, "/payload");
    run([](Run& bad) { bad.selector = {{"k", "\xff"}}; }, "/selector");
    run([](Run& bad) { bad.priority = 10; }, "/priority");

    const auto job = [&](const std::function<void(model::Job&)>& spoil, const std::string& path) {
        model::Job bad = MakeJob("j");
        spoil(bad);
        refused(bad, path, "job j");
    };
    job([&](model::Job& bad) { bad.name = nul; }, "/name");
    job([&](model::Job& bad) { bad.state.last_error = nul; }, "/last_error");
    job([&](model::Job& bad) { bad.action = model::HttpAction{.url = nul}; }, "/http/url");
    job([&](model::Job& bad) { bad.schedule.zone = nul; }, "/schedule/zone");
    model::Job nameless = MakeJob("j");
    nameless.id = nul;
    refused(nameless, "/id", "a record");

    const model::Run of = MakeRun();
    refused(model::Attempt{.run_id = of.id, .number = 1, .error = nul}, "/error",
            "attempt 1 of run " + of.id.ToString());
    refused(model::LedgerEntry{.seq = 1, .job_id = nul}, "/job_id", "ledger entry 1");
    refused(model::LedgerEntry{.job_id = "j"}, "/seq", "ledger entry 0");
    refused(model::AuditEvent{.seq = 1, .action = "a", .data = "\xff"}, "/data", "event 1");
    refused(model::Document{.kind = "setting", .key = "", .body = "1"}, "/key", "setting ");
    refused(model::Document{.kind = "setting", .key = "k", .body = nul}, "/body", "setting k");
    EXPECT_EQ(*store().records().Counts(), store::RecordCounts{});

    // A lease or a deadline is enough, and final runs can be purged.
    Run leased = MakeRun();
    leased.status.state = RunState::kRunning;
    leased.status.lease_until = now_;
    Run limited = MakeRun();
    limited.status.state = RunState::kRunning;
    limited.status.deadline = now_;
    Run ended = MakeRun();
    ended.status.state = RunState::kMissed;
    ended.status.finished_at = now_;
    ASSERT_TRUE(store().records().Add({leased, limited, ended}));
    EXPECT_EQ(*runs().Purge({.finished_before = now_ + seconds(1)}), 1U);
    EXPECT_EQ(runs().Reap({.now = now_ + seconds(1)})->runs.size(), 2U);
}

TEST_P(StoreTest, TimesAtTheEdges) {
    Run run = MakeRun();
    run.status.ready_at = TimePoint(std::chrono::sys_days(std::chrono::year(9999) / 12 / 31));
    run.unique = {.key = "k", .until = now_ + Duration(1)};
    SubmitOne(run);
    EXPECT_EQ(Read(run.id).run.status.ready_at, run.status.ready_at);
    Run old = MakeRun();
    old.status.ready_at = TimePoint(std::chrono::sys_days(std::chrono::year(1) / 1 / 1));
    SubmitOne(old);
    EXPECT_EQ(ClaimOne().id, old.id);
}

// Idempotency keys: one holder at a time per tenant; free when the run's state or time says so.
TEST_P(StoreTest, UniqueKeys) {
    const auto submit = [this](const std::function<void(Run&)>& change) {
        Run run = MakeRun();
        run.unique.key = "k";
        change(run);
        return Submit({run}).at(0);
    };
    const auto same = [](Run&) {};
    const auto first = submit(same);
    EXPECT_EQ(first.verdict, SubmitVerdict::kStored);
    const auto second = submit(same);
    EXPECT_EQ(second.verdict, SubmitVerdict::kSameKey);
    EXPECT_EQ(second.id, first.id);
    EXPECT_EQ(submit([](Run& run) { run.tenant = "acme"; }).verdict, SubmitVerdict::kStored);
    EXPECT_EQ(submit([](Run& run) { run.unique.key = "other"; }).verdict, SubmitVerdict::kStored);
    // A finished run frees its key by default.
    Apply(first.id, {.kind = EventKind::kCancel});
    const auto third = submit([this](Run& run) {
        run.unique.states = model::kAllStates;
        run.unique.until = now_ + minutes(5);
    });
    EXPECT_EQ(third.verdict, SubmitVerdict::kStored);
    Apply(third.id, {.kind = EventKind::kCancel});
    EXPECT_EQ(submit(same).verdict, SubmitVerdict::kSameKey) << "held beyond the end";
    now_ += minutes(5);
    EXPECT_EQ(submit(same).verdict, SubmitVerdict::kStored) << "until its time has passed";
    // Within one batch the first run gets the key.
    Run one = MakeRun();
    one.unique.key = "batch";
    Run two = MakeRun();
    two.unique.key = "batch";
    const auto both = Submit({one, two});
    EXPECT_EQ(both[0].verdict, SubmitVerdict::kStored);
    EXPECT_EQ(both[1].verdict, SubmitVerdict::kSameKey);
    EXPECT_EQ(both[1].id, one.id);
    const auto again = Submit({two, one});
    EXPECT_EQ(again[0].verdict, SubmitVerdict::kSameKey);
    EXPECT_EQ(again[0].id, one.id);
}

// A call that is repeated after its run has ended does not take the key again.
TEST_P(StoreTest, ARepeatedCallLeavesTheKeyAlone) {
    Run run = MakeRun();
    run.unique.key = "k";
    SubmitOne(run);
    Apply(run.id, {.kind = EventKind::kCancel});
    EXPECT_EQ(Submit({run})[0].verdict, SubmitVerdict::kSameId);
    Run next = MakeRun();
    next.unique.key = "k";
    EXPECT_EQ(Submit({next})[0].verdict, SubmitVerdict::kStored);
}

// The same id with another key: neither key is kept from other runs.
TEST_P(StoreTest, ARepeatedIdWithAnotherKeyTakesNone) {
    Run run = MakeRun();
    run.unique.key = "k";
    SubmitOne(run);
    run.unique.key = "other";
    EXPECT_EQ(Submit({run})[0].verdict, SubmitVerdict::kSameId);
    Run next = MakeRun();
    next.unique.key = "other";
    EXPECT_EQ(Submit({next})[0].verdict, SubmitVerdict::kStored);
}

// A run that is skipped at once does not hold its key.
TEST_P(StoreTest, ASkippedRunLeavesItsKey) {
    model::Job job = MakeJob("j1");
    Create(job);
    SubmitOne(MakeFire(job, now_));
    ASSERT_EQ(ClaimHttp().size(), 1U);
    Run fire = MakeFire(job, now_ + minutes(1));
    fire.status.ready_at = now_;
    fire.unique.key = "k";
    const auto skipped =
        runs().Submit({.now = now_,
                       .runs = {fire},
                       .start = store::StartAs{.owner = "w", .kind = model::ActionKind::kHttp}});
    ASSERT_TRUE(skipped);
    ASSERT_EQ(skipped->at(0).verdict, SubmitVerdict::kSkipped);
    Run next = MakeRun();
    next.unique.key = "k";
    EXPECT_EQ(Submit({next})[0].verdict, SubmitVerdict::kStored);
}

// The first run of the batch gets the key and is refused for its fire; then the second gets the
// key.
TEST_P(StoreTest, AKeyGoesToTheNextWhenItsTakerIsRefused) {
    model::Job job = MakeJob("j1");
    Create(job);
    SubmitOne(MakeFire(job, now_));
    Run fire = MakeFire(job, now_);
    fire.unique.key = "k";
    Run second = MakeRun();
    second.unique.key = "k";
    Run third = MakeRun();
    third.unique.key = "k";
    const auto outcomes = Submit({fire, second, third});
    EXPECT_EQ(outcomes[0].verdict, SubmitVerdict::kSameFire);
    EXPECT_EQ(outcomes[1].verdict, SubmitVerdict::kStored);
    EXPECT_EQ(outcomes[2].verdict, SubmitVerdict::kSameKey);
    EXPECT_EQ(outcomes[2].id, second.id);
}

}  // namespace
}  // namespace ksana::conformance

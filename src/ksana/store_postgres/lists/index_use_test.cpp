#include "ksana/store_postgres/lists/index_use_fixture.hpp"

// Every statement finds its rows by an index: each method is called on tables of some size, and
// then the server's statistics show whether it has read a table from end to end.

namespace ksana::store_postgres {
namespace {

using store_kit::Transaction;

TEST_F(IndexUseTest, Claims) {
    CheckCall("one type",
              [](Transaction& tx) { return tx.LockReady({.types = {"t1"}}, TimePoint{}, 10); });
    CheckCall("backlog", [](Transaction& tx) {
        return tx.LockReady({.types = {"backlog"}, .labels = {{"gpu", "yes"}}}, TimePoint{}, 100);
    });
    CheckCall("two types", [](Transaction& tx) {
        return tx.LockReady({.types = {"t1", "t2"}}, TimePoint{}, 10);
    });
    CheckCall("any type", [](Transaction& tx) { return tx.LockReady({}, TimePoint{}, 10); });
    CheckCall("tenant",
              [](Transaction& tx) { return tx.LockReady({.tenant = "acme"}, TimePoint{}, 10); });
    CheckCall("category", [](Transaction& tx) {
        return tx.LockReady({.types = {"t0"}, .categories = {"c"}}, TimePoint{}, 10);
    });
    CheckCall("due", [](Transaction& tx) { return tx.MakeDue(At(50), 10); });
    CheckCall("expired", [](Transaction& tx) { return tx.LockExpired(At(50), 10); });
    CheckCall("owned", [](Transaction& tx) { return tx.LockOwned({"w1"}, 10); });
    CheckCall("gates", [](Transaction& tx) { return tx.LockOverlapCounts({"j2", "j4"}); });
    CheckCall("gated", [](Transaction& tx) { return tx.LockGated("j2"); });
    CheckCall("first blocked", [](Transaction& tx) { return tx.LockFirstBlocked("j2"); });
    CheckCall("stray", [](Transaction& tx) { return tx.LockWronglyBlocked(10); });
    CheckCall("awaiting", [](Transaction& tx) { return tx.LockAwaiting(At(50), 10); });
    CheckCall("unstarted", [](Transaction& tx) { return tx.LockUnstarted("j2", 10); });
}

TEST_F(IndexUseTest, ChangesOfRuns) {
    Check("end", [](Transaction& tx) -> Result<void> {
        KSANA_TRY(auto runs, tx.LockReady({.types = {"t1"}}, TimePoint{}, 20));
        std::vector<Uuid> ids;
        for (model::Run& run : runs) {
            ids.push_back(run.id);
            run.status.state = model::RunState::kRunning;
            run.status.lease_until = At(0);
        }
        KSANA_TRY_VOID(tx.UpdateRuns(store_kit::RefsTo(runs)));
        KSANA_TRY(runs, tx.LockRuns(ids));
        for (model::Run& run : runs) {
            run.status.state = model::RunState::kSucceeded;
            run.status.finished_at = At(0);
        }
        KSANA_TRY_VOID(tx.UpdateRuns(store_kit::RefsTo(runs)));
        KSANA_TRY_VOID(tx.AddTallies({{.job_id = "j1", .runs = 1}, {.job_id = "j2", .runs = 1}}));
        KSANA_TRY_VOID(tx.InsertAttempts({{.run_id = ids[0], .number = 7}}));
        KSANA_TRY(runs, tx.LockRuns(ids));
        EXPECT_EQ(runs.size(), ids.size());
        KSANA_TRY(runs, tx.Runs(ids));
        KSANA_TRY([[maybe_unused]] const auto attempts, tx.Attempts(ids));
        return tx.DeleteRuns(store_kit::RefsTo(runs));
    });
    Check("insert", [this](Transaction& tx) -> Result<void> {
        model::Run run;
        run.id = ids_.Next();
        run.type = "x";
        model::Run fire = run;
        fire.id = ids_.Next();
        fire.job_id = "j1";
        fire.nominal_at = At(-1);
        model::Run over = run;
        over.id = ids_.Next();
        over.status.state = model::RunState::kSkipped;
        over.status.finished_at = At(0);
        KSANA_TRY([[maybe_unused]] const auto inserted, tx.InsertRuns({&run, &fire, &over}));
        KSANA_TRY([[maybe_unused]] const auto found, tx.FindFire("j1", At(-1)));
        return {};
    });
    Check("keys", [this](Transaction& tx) -> Result<void> {
        const store_kit::KeyClaim claim{"default", "k7", ids_.Next(), {}};
        KSANA_TRY([[maybe_unused]] const auto holders, tx.TakeKeys({claim}, At(0)));
        return tx.FreeKeys({claim});
    });
    CheckCall("purge", [](Transaction& tx) {
        return tx.PurgeRuns({.finished_before = At(20), .limit = 10});
    });
    CheckCall("purge some", [](Transaction& tx) {
        return tx.PurgeRuns({.finished_before = At(200),
                             .states = model::SetOf(model::RunState::kFailed),
                             .limit = 10});
    });
    CheckCall("wake", [](Transaction& tx) { return tx.NextWake(); });
    CheckCall("samples", [](Transaction& tx) { return tx.Samples({.job_id = "j2"}, 100); });
}

TEST_F(IndexUseTest, Jobs) {
    CheckCall("by id", [](Transaction& tx) { return tx.Jobs({"j1", "j2"}); });
    CheckCall("due", [](Transaction& tx) { return tx.LockDueJobs(At(20), 10); });
    CheckCall("dependants", [](Transaction& tx) { return tx.DependantsOf("j7"); });
    Check("change", [](Transaction& tx) -> Result<void> {
        KSANA_TRY(auto jobs, tx.LockJobs({"j1", "j2"}));
        jobs[0].state.version += 1;
        KSANA_TRY_VOID(tx.UpdateJobs(jobs));
        KSANA_TRY_VOID(tx.UpdatePlans(jobs));
        jobs[0].id = "fresh";
        KSANA_TRY([[maybe_unused]] const auto inserted, tx.InsertJobs({jobs[0]}));
        return tx.DeleteJob("fresh");
    });
    for (const auto sort : {store::JobSort::kId, store::JobSort::kName, store::JobSort::kNextRun,
                            store::JobSort::kCreated, store::JobSort::kUpdated}) {
        for (const bool descending : {false, true}) {
            CheckCall(fmt::format("list by {}", model::NameOf(sort)), [&](Transaction& tx) {
                return tx.ListJobs({.sort = sort,
                                    .descending = descending,
                                    .limit = 10,
                                    .after = store_kit::JobList::After{"n5", 2500, "j5"}});
            });
        }
    }
    ListByLastRun();
    const std::vector<std::pair<std::string, store::JobFilter>> filters = {
        {"tenant", {.tenant = "acme"}}, {"name", {.name = "n7"}},
        {"group", {.group = "g"}},      {"owner", {.owner = "ann"}},
        {"type", {.type = "t"}},        {"labels", {.labels = {{"a", "7"}}}},
        {"calendar", {.calendar = "c"}}};
    for (const auto& [name, filter] : filters) {
        CheckCall(name,
                  [&](Transaction& tx) { return tx.ListJobs({.filter = filter, .limit = 10}); });
        CheckCall("count by " + name,
                  [&](Transaction& tx) { return tx.CountJobs({.filter = filter}, 10); });
    }
}

// Conditions without an index are checked within a part of another index, and no table is read from
// end to end.
TEST_F(IndexUseTest, SearchesThatEndEarly) {
    constexpr std::size_t kLook = 200;
    for (const auto sort : {store::JobSort::kId, store::JobSort::kName, store::JobSort::kNextRun,
                            store::JobSort::kCreated, store::JobSort::kUpdated}) {
        CheckCall(fmt::format("search by {}", model::NameOf(sort)), [&](Transaction& tx) {
            return tx.ListJobs({.words = {"zebra"}, .sort = sort, .limit = 10, .look = kLook});
        });
    }
    CheckCall("search of jobs, count", [&](Transaction& tx) {
        return tx.CountJobs({.words = {"zebra"}, .look = kLook}, 10);
    });
    const std::vector<std::pair<std::string, store::RunFilter>> filters = {
        {"anything", {}},
        {"owner", {.owner = "nobody"}},
        {"kind", {.kind = model::ActionKind::kCommand}},
        {"trigger", {.trigger = model::RunTrigger::kBackfill}},
        {"states",
         {.states = static_cast<model::RunStates>(model::SetOf(model::RunState::kFailed) |
                                                  model::SetOf(model::RunState::kSkipped))}},
        {"type", {.type = "t3", .owner = "nobody"}}};
    for (const auto& [name, filter] : filters) {
        for (const auto sort : {store::RunSort::kId, store::RunSort::kFinished}) {
            store_kit::RunList list{
                .filter = filter, .words = {"zebra"}, .sort = sort, .limit = 10, .look = kLook};
            if (sort == store::RunSort::kFinished) list.filter.states &= ~model::kUnfinishedStates;
            CheckCall("search by " + name, [&](Transaction& tx) { return tx.ListRuns(list); });
            CheckCall("count by " + name, [&](Transaction& tx) { return tx.CountRuns(list, 10); });
        }
    }
}

TEST_F(IndexUseTest, Groups) {
    schema_.Run("VACUUM ksana.jobs");  // the server does this by itself, later
    CheckCall("groups", [](Transaction& tx) { return tx.Groups({.after = "", .limit = 10}); });
    CheckCall("groups behind one",
              [](Transaction& tx) { return tx.Groups({.after = "a", .limit = 10}); });
    CheckCall("one group", [](Transaction& tx) { return tx.Groups({.name = "g", .limit = 1}); });
}

TEST_F(IndexUseTest, Lists) {
    const auto list = [&](const std::string& name, store_kit::RunList wanted) {
        wanted.limit = 10;
        CheckCall(name, [&](Transaction& tx) { return tx.ListRuns(wanted); });
    };
    list("newest", {});
    list("after", {.after = store_kit::RunList::After{0, ids_.Next()}});
    list("state", {.filter = {.states = model::SetOf(model::RunState::kFailed)}});
    list("job", {.filter = {.job_id = "j2"}});
    list("type of finished",
         {.filter = {.states = model::SetOf(model::RunState::kFailed), .type = "t3"}});
    list("finished", {.filter = {.states = model::kAllStates & ~model::kUnfinishedStates},
                      .sort = store::RunSort::kFinished});
    list("tenant",
         {.filter = {.states = model::kAllStates & ~model::kUnfinishedStates, .tenant = "acme"}});
    list("scheduled", {.filter = {.states = model::SetOf(model::RunState::kScheduled)},
                       .sort = store::RunSort::kReady,
                       .descending = false});
    const auto over = static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
    const std::vector<std::pair<std::string, store::RunFilter>> filters = {
        {"parent", {.parent = parent_}},
        {"owner", {.owner = "w7"}},
        {"category", {.states = over, .category = "c"}},
        {"creator", {.states = over, .creator = "u"}},
        {"job", {.job_id = "j2"}},
        {"tenant", {.states = over, .tenant = "acme"}}};
    for (const auto& [name, filter] : filters) {
        list(name, {.filter = filter});
        list(name + ", oldest first", {.filter = filter, .descending = false});
        if (name == "owner") continue;  // no index: a count reads the table until it has enough
        CheckCall("count by " + name,
                  [&](Transaction& tx) { return tx.CountRuns({.filter = filter}, 10); });
    }
    list("finished of a job",
         {.filter = {.states = over, .job_id = "j2"}, .sort = store::RunSort::kFinished});
    CheckCall("ledger", [](Transaction& tx) {
        return tx.ListLedger({.job_id = "j7", .after = 5, .limit = 10});
    });
    CheckCall("whole ledger", [](Transaction& tx) { return tx.ListLedger({.limit = 10}); });
    CheckCall("events", [](Transaction& tx) { return tx.ListEvents({.limit = 10}); });
    CheckCall("events of one", [](Transaction& tx) {
        return tx.ListEvents(
            {.filter = {.resource_type = "job", .resource_id = "j7"}, .limit = 10});
    });
    const std::vector<std::pair<std::string, store::EventFilter>> events = {
        {"tenant", {.tenant = "acme"}},
        {"user", {.user = "u7"}},
        {"action", {.action = "rare"}},
        {"type", {.resource_type = "run"}},
        {"resource", {.resource_id = "j7"}},
        {"time", {.from = TimePoint(Duration(100)), .until = TimePoint(Duration(120))}}};
    for (const auto& [name, filter] : events) {
        CheckCall("events by " + name,
                  [&](Transaction& tx) { return tx.ListEvents({.filter = filter, .limit = 10}); });
    }
    CheckCall("purge events",
              [](Transaction& tx) { return tx.PurgeEvents(TimePoint(Duration(10)), 5); });
    CheckCall("documents", [](Transaction& tx) {
        return tx.ListDocuments({.kind = "k1", .prefix = "d12", .limit = 10});
    });
    CheckCall("all documents", [](Transaction& tx) {
        return tx.ListDocuments({.after_kind = "k1", .after_key = "d5", .limit = 10});
    });
    Check("document", [](Transaction& tx) -> Result<void> {
        KSANA_TRY(const auto there, tx.LockDocument("k1", "d6"));
        KSANA_TRY_VOID(tx.PutDocument(*there));
        return tx.DeleteDocument("k1", "d6");
    });
    CheckCall("purge documents",
              [](Transaction& tx) { return tx.PurgeDocuments("k0", TimePoint(Duration(50)), 5); });
}

}  // namespace
}  // namespace ksana::store_postgres

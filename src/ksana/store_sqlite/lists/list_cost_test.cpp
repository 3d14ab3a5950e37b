#include <fmt/core.h>

#include <algorithm>

#include "ksana/store_sqlite/backend_fixture.hpp"
#include "ksana/store_sqlite/sqlite_backend.hpp"

// A plan names the index, but not where SQLite begins in it: a page in the middle of a list may
// seek by the wrong bound and walk to its place. So these tests count the steps of SQLite's virtual
// machine. Every row matches every filter here, so that the cost of a page depends only on its
// size.

namespace ksana::store_sqlite {
namespace {

using model::RunState;

constexpr std::uint32_t kCount = 3000;
constexpr std::size_t kPage = 10;

class ListCostTest : public BackendFixture {
  protected:
    ListCostTest() : backend_(Open()) {}

    using Body = std::function<Result<void>(store_kit::Transaction&)>;

    void Write(const Body& body) {
        const auto done = backend_->Write(body);
        EXPECT_TRUE(done) << done.error().Describe();
    }

    // Returns the steps of all statements that `body` runs.
    std::int64_t StepsOf(const Body& body) {
        sqlite3* database = dynamic_cast<SqliteBackend&>(*backend_).WriterForTest().handle();
        TakeSteps(database);
        Write(body);
        return TakeSteps(database);
    }

    // Returns and resets the step counters.
    static std::int64_t TakeSteps(sqlite3* database) {
        std::int64_t steps = 0;
        for (sqlite3_stmt* one = sqlite3_next_stmt(database, nullptr); one != nullptr;
             one = sqlite3_next_stmt(database, one)) {
            steps += sqlite3_stmt_status(one, SQLITE_STMTSTATUS_VM_STEP, 1);
        }
        return steps;
    }

    // Returns the steps of a page that begins after a place.
    template <class List, class F>
    std::int64_t StepsOf(List list, const std::optional<typename List::After>& after,
                         const F& read) {
        list.after = after;
        list.limit = kPage;
        return StepsOf([&](store_kit::Transaction& tx) -> Result<void> {
            KSANA_TRY(const auto listed, read(tx, list));
            EXPECT_EQ(listed.rows.size(), kPage);
            return {};
        });
    }

    // Expects that a page costs about the same wherever it begins.
    template <class List, class F>
    void ExpectEven(const std::string& name, List list,
                    const std::vector<typename List::After>& places, const F& read) {
        for (const bool descending : {false, true}) {
            list.descending = descending;
            const std::int64_t first = StepsOf(list, {}, read);
            for (const auto& place : places) {
                EXPECT_LE(StepsOf(list, place, read), 2 * first)
                    << name << (descending ? ", descending" : "");
            }
        }
    }

    std::unique_ptr<store_kit::Backend> backend_;
};

class RunListCostTest : public ListCostTest {
  protected:
    RunListCostTest() {
        std::vector<model::Run> runs;
        for (std::uint32_t i = 1; i <= kCount; ++i) {
            model::Run run = MakeRun(i);
            run.tenant = "acme";
            run.job_id = "j";
            run.category = "c";
            run.creator = "ann";
            run.parent = Id(0);
            run.status.ready_at = At(i);
            run.status.state = RunState::kScheduled;
            if (i % 3 != 0) {
                run.status.state = i % 3 == 1 ? RunState::kSucceeded : RunState::kFailed;
                run.status.finished_at = At(i);
            }
            runs.push_back(std::move(run));
        }
        EXPECT_TRUE(Insert(*backend_, runs));
    }

    TimePoint At(std::uint32_t number) const { return clock_.Now() + std::chrono::seconds(number); }

    std::vector<store_kit::RunList::After> Places() const {
        std::vector<store_kit::RunList::After> places;
        for (const std::uint32_t number : {kCount / 4, kCount / 2, kCount / 4 * 3}) {
            places.push_back({At(number).time_since_epoch().count(), Id(number)});
        }
        return places;
    }

    void Check(const std::string& name, const store::RunFilter& filter, store::RunSort sort) {
        ExpectEven(name, store_kit::RunList{.filter = filter, .sort = sort}, Places(),
                   [](store_kit::Transaction& tx, const store_kit::RunList& list) {
                       return tx.ListRuns(list);
                   });
    }
};

constexpr model::RunStates kEnded = model::kAllStates & ~model::kUnfinishedStates;

TEST_F(RunListCostTest, ById) {
    using store::RunSort;
    Check("all", {}, RunSort::kId);
    Check("one state", {.states = model::SetOf(RunState::kFailed)}, RunSort::kId);
    Check("final states", {.states = kEnded}, RunSort::kId);
    Check("tenant", {.tenant = "acme"}, RunSort::kId);
    Check("job", {.job_id = "j"}, RunSort::kId);
    Check("type", {.type = "mail"}, RunSort::kId);
    Check("category", {.category = "c"}, RunSort::kId);
    Check("creator", {.creator = "ann"}, RunSort::kId);
    Check("parent", {.parent = Id(0)}, RunSort::kId);
}

TEST_F(RunListCostTest, ByTime) {
    using store::RunSort;
    Check("one state", {.states = model::SetOf(RunState::kFailed)}, RunSort::kFinished);
    Check("final states", {.states = kEnded}, RunSort::kFinished);
    Check("job", {.states = kEnded, .job_id = "j"}, RunSort::kFinished);
    Check("span", {.states = kEnded, .finished_from = At(10), .finished_until = At(kCount - 10)},
          RunSort::kFinished);
    Check("span of a job",
          {.states = kEnded,
           .job_id = "j",
           .finished_from = At(10),
           .finished_until = At(kCount - 10)},
          RunSort::kFinished);
    Check("scheduled", {.states = model::SetOf(RunState::kScheduled)}, RunSort::kReady);
}

TEST_F(ListCostTest, Jobs) {
    std::vector<model::Job> jobs;
    const auto at = [&](std::uint32_t number) {
        return clock_.Now() + std::chrono::seconds(number);
    };
    for (std::uint32_t i = 0; i < kCount; ++i) {
        model::Job& job = jobs.emplace_back();
        job.id = fmt::format("j{:05}", i);
        job.name = fmt::format("n{:05}", i);
        job.tenant = "acme";
        job.group = "g";
        job.owner = "ann";
        job.labels = {{"a", "b"}};
        job.schedule.calendar = "c";
        job.action = model::QueueAction{.type = "t"};
        job.enabled = i % 2 == 0;
        job.state.created_at = job.state.updated_at = at(i);
        job.state.next_run_at = job.state.last_run_at = at(i);
    }
    Write([&](store_kit::Transaction& tx) -> Result<void> {
        KSANA_TRY_VOID(tx.InsertJobs(jobs));
        return {};
    });
    const std::vector<store::JobFilter> filters = {{},
                                                   {.tenant = "acme"},
                                                   {.group = "g"},
                                                   {.owner = "ann"},
                                                   {.type = "t"},
                                                   {.calendar = "c"},
                                                   {.labels = {{"a", "b"}}}};
    for (std::size_t i = 0; i < filters.size(); ++i) {
        for (std::size_t sort = 0; sort < model::kEnumCount<store::JobSort>; ++sort) {
            const store_kit::JobList list{.filter = filters[i],
                                          .sort = static_cast<store::JobSort>(sort)};
            std::vector<store_kit::JobList::After> places;
            for (const std::uint32_t number : {kCount / 4, kCount / 2, kCount / 4 * 3}) {
                const model::Job& job = jobs[number];
                places.push_back({job.name, at(number).time_since_epoch().count(), job.id});
            }
            ExpectEven(fmt::format("filter {} by {}", i, model::NameOf(list.sort)), list, places,
                       [](store_kit::Transaction& tx, const store_kit::JobList& wanted) {
                           return tx.ListJobs(wanted);
                       });
        }
    }
}

// A list of a time span does not walk to it. Two events are out of order, one at each end.
TEST_F(ListCostTest, EventsOfASpan) {
    constexpr int kEvents = 40'000;
    const TimePoint start = clock_.Now();
    std::vector<model::AuditEvent> events(kEvents);
    for (int i = 0; i < kEvents; ++i) {
        model::AuditEvent& event = events[static_cast<std::size_t>(i)];
        event.at = start + std::chrono::seconds(i);
        event.user = "ann";
        event.action = "a";
        event.resource_type = "job";
        event.resource_id = "j";
    }
    events.front().at = start + std::chrono::hours(1000);
    events.back().at = start - std::chrono::hours(1000);
    Write([&](store_kit::Transaction& tx) { return tx.InsertEvents(events); });
    // Steps for two of the ten blocks: the one with an event out of order, and the one in which the
    // span ends.
    constexpr std::int64_t kMost = 2 * 4096 * 8;
    const auto check = [&](const std::string& name, const store::EventFilter& filter) {
        for (const bool descending : {false, true}) {
            store_kit::EventList list{.filter = filter, .descending = descending, .limit = kPage};
            const std::int64_t steps = StepsOf([&](store_kit::Transaction& tx) -> Result<void> {
                KSANA_TRY(const auto found, tx.ListEvents(list));
                EXPECT_EQ(found.size(), kPage);
                return {};
            });
            EXPECT_LE(steps, kMost) << name << (descending ? ", descending" : "");
        }
    };
    const TimePoint early = start + std::chrono::seconds(100);
    const TimePoint late = start + std::chrono::seconds(kEvents - 100);
    check("until", {.until = early});
    check("from", {.from = late});
    check("both", {.from = early, .until = late});
    check("user, until", {.user = "ann", .until = early});
    check("action, from", {.action = "a", .from = late});
    check("resource, until", {.resource_id = "j", .until = early});
}

}  // namespace
}  // namespace ksana::store_sqlite

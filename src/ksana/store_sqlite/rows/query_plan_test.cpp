#include <fmt/core.h>

#include "ksana/store_sqlite/backend_fixture.hpp"
#include "ksana/store_sqlite/lists/list_sql.hpp"
#include "ksana/store_sqlite/sqlite_backend.hpp"

// Every statement uses an index or the key of its table.

namespace ksana::store_sqlite {
namespace {

class QueryPlanTest : public BackendFixture {
  protected:
    QueryPlanTest() : backend_(Open()) {}

    std::vector<std::string> PlanOf(const std::string& sql) {
        Connection& connection = dynamic_cast<SqliteBackend&>(*backend_).WriterForTest();
        Query query = connection.Dynamic("EXPLAIN QUERY PLAN " + sql);
        std::vector<std::string> steps;
        for (;;) {
            const auto row = query.Next();
            if (!row) {
                ADD_FAILURE() << sql << "\n" << row.error().message;
                connection.Rollback();
                return steps;
            }
            if (!*row) return steps;
            query.Skip();
            query.Skip();
            query.Skip();
            steps.push_back(query.Text());
        }
    }

    // `walk`: a list without a filter walks along the table itself, which has the right order.
    void ExpectIndexed(const std::string& sql, bool walk = false) {
        for (const std::string& step : PlanOf(sql)) {
            const bool scan = step.starts_with("SCAN ") &&
                              step.find(" USING ") == std::string::npos &&
                              step != "SCAN CONSTANT ROW" && !step.starts_with("SCAN (subquery") &&
                              !step.starts_with("SCAN run_batch ") &&  // the batch to write
                              !step.starts_with("SCAN e ");            // job_state.recent
            EXPECT_FALSE(scan && !walk) << sql << "\n" << step;
            EXPECT_FALSE(walk && step.find("TEMP B-TREE") != std::string::npos) << sql;
        }
    }

    bool Sorts(const std::string& sql) {
        return std::ranges::any_of(PlanOf(sql), [](const std::string& step) {
            return step.find("TEMP B-TREE") != std::string::npos;
        });
    }

    std::unique_ptr<store_kit::Backend> backend_;
};

// Returns whether a statement may scan a table.
bool MaySeeAll(Sql which) {
    switch (which) {
        case Sql::kFindSchemaTable:
        case Sql::kTakeSnapshot:
        case Sql::kListMigrations:
        case Sql::kListPolicies:  // small tables
        case Sql::kCountAttempts:
        case Sql::kCountDocuments:
        case Sql::kListAllDocuments:  // has to read everything
        case Sql::kLastSeq:           // reads the end of the table
            return true;
        default:
            return false;
    }
}

TEST_F(QueryPlanTest, EveryStatementUsesAnIndex) {
    for (std::size_t i = 0; i < kSqlCount; ++i) {
        const auto which = static_cast<Sql>(i);
        if (!MaySeeAll(which)) ExpectIndexed(std::string(TextOf(which)));
    }
}

TEST_F(QueryPlanTest, ClaimsNeedNoSort) {
    for (const Sql which :
         {Sql::kFindInRange, Sql::kIdsInRange, Sql::kFindTagged, Sql::kSampleRuns}) {
        for (const std::string& step : PlanOf(std::string(TextOf(which)))) {
            EXPECT_EQ(step.find("TEMP B-TREE"), std::string::npos) << TextOf(which);
        }
    }
}

std::vector<store::RunFilter> RunFilters() {
    std::vector<store::RunFilter> filters(15);
    filters[1].states = model::kUnfinishedStates;
    filters[2].states = model::SetOf(model::RunState::kFailed);
    filters[3].tenant = "acme";
    filters[4].tenant = "default";
    filters[5].job_id = "j";
    filters[6].type = "t";
    filters[7].category = "c";
    filters[8].creator = "c";
    filters[9].owner = "o";
    filters[10].kind = model::ActionKind::kQueue;
    filters[11].trigger = model::RunTrigger::kFire;
    filters[12].parent = Uuid{};
    filters[13].finished_from = TimePoint{};
    filters[14].finished_until = TimePoint{};
    filters[14].type = "t";
    return filters;
}

TEST_F(QueryPlanTest, ListsOfRuns) {
    for (const auto& filter : RunFilters()) {
        for (const auto sort :
             {store::RunSort::kId, store::RunSort::kReady, store::RunSort::kFinished}) {
            for (const bool descending : {false, true}) {
                for (const bool after : {false, true}) {
                    store_kit::RunList list{.filter = filter,
                                            .words = {"w"},
                                            .sort = sort,
                                            .descending = descending,
                                            .limit = 10};
                    if (after) list.after.emplace();
                    for (const auto& part : RunListSql(list, ListPurpose::kRows)) {
                        ExpectIndexed(part.sql.text);
                        EXPECT_EQ(Sorts(part.sql.text), part.sorts) << part.sql.text;
                    }
                    for (const auto& part : RunListSql(list, ListPurpose::kCount)) {
                        ExpectIndexed(part.sql.text);
                        EXPECT_FALSE(Sorts(part.sql.text)) << part.sql.text;
                    }
                    ExpectIndexed(RunsByIdSql(list).text);
                }
            }
        }
    }
}

TEST_F(QueryPlanTest, ListsByTheUsualFiltersNeedNoSort) {
    for (auto filter : RunFilters()) {
        if (filter.states == model::kUnfinishedStates || filter.finished_from ||
            filter.finished_until) {
            continue;
        }
        const store_kit::RunList list{.filter = filter, .words = {}, .limit = 10};
        for (const auto& part : RunListSql(list, ListPurpose::kRows)) {
            EXPECT_TRUE(!part.sorts || part.few) << part.sql.text;
        }
    }
}

TEST_F(QueryPlanTest, ListsOfJobs) {
    std::vector<store::JobFilter> filters(13);
    filters[1].tenant = "acme";
    filters[2].tenant = "default";
    filters[3].group = "g";
    filters[4].owner = "o";
    filters[5].enabled = true;
    filters[6].kind = model::ActionKind::kHttp;
    filters[7].type = "t";
    filters[8].last_state = model::RunState::kFailed;
    filters[9].labels = {{"a", "b"}, {"c", "d"}};
    filters[10].enabled = false;
    filters[11].name = "n";
    filters[12].calendar = "c";
    for (const auto& filter : filters) {
        for (std::size_t sort = 0; sort < model::kEnumCount<store::JobSort>; ++sort) {
            for (const bool descending : {false, true}) {
                for (const bool after : {false, true}) {
                    store_kit::JobList list{.filter = filter,
                                            .words = {"w"},
                                            .sort = static_cast<store::JobSort>(sort),
                                            .descending = descending,
                                            .limit = 10};
                    if (after) list.after.emplace();
                    for (const auto purpose : {ListPurpose::kRows, ListPurpose::kCount}) {
                        for (const auto& part : JobListSql(list, purpose, 10)) {
                            ExpectIndexed(part.text);
                            for (const std::string& step : PlanOf(part.text)) {
                                EXPECT_EQ(step.find("TEMP B-TREE"), std::string::npos) << part.text;
                            }
                        }
                    }
                    list.look = 100;
                    for (const auto& part : JobHorizonSql(list)) {
                        ExpectIndexed(part.text);
                        EXPECT_FALSE(Sorts(part.text)) << part.text;
                    }
                    for (const auto& part :
                         JobListSql(list, ListPurpose::kRows, 10, store_kit::JobList::After{})) {
                        ExpectIndexed(part.text);
                        EXPECT_FALSE(Sorts(part.text)) << part.text;
                    }
                }
            }
        }
    }
}

// A page ends early only where rows are read that do not belong to the list.
TEST_F(QueryPlanTest, AnIndexThatKnowsEverythingNeedsNoHorizon) {
    const auto needs = [](store::JobFilter filter, store::JobSort sort,
                          std::vector<std::string> words = {}) {
        return !JobHorizonSql({.filter = std::move(filter),
                               .words = std::move(words),
                               .sort = sort,
                               .limit = 10,
                               .look = 100})
                    .empty();
    };
    using store::JobSort;
    EXPECT_FALSE(needs({}, JobSort::kId));
    EXPECT_FALSE(needs({.owner = "o"}, JobSort::kId));
    EXPECT_FALSE(needs({.labels = {{"a", "b"}}}, JobSort::kId));
    EXPECT_FALSE(needs({.enabled = true}, JobSort::kNextRun));
    EXPECT_TRUE(needs({.enabled = true}, JobSort::kId));
    EXPECT_TRUE(needs({.owner = "o"}, JobSort::kName));
    EXPECT_TRUE(needs({.group = "g", .owner = "o"}, JobSort::kId));
    EXPECT_TRUE(needs({.labels = {{"a", "b"}, {"c", "d"}}}, JobSort::kId));
    EXPECT_TRUE(needs({.labels = {{"a", "b"}}}, JobSort::kNextRun));
    EXPECT_TRUE(needs({}, JobSort::kLastRun, {"w"}));
    EXPECT_TRUE(JobHorizonSql({.words = {"w"}, .limit = 10}).empty()) << "nobody asked for it";
}

TEST_F(QueryPlanTest, ListsOfEventsAndLedger) {
    std::vector<store::EventFilter> filters(7);
    filters[1].tenant = "acme";
    filters[2].user = "u";
    filters[3].action = "a";
    filters[4].resource_type = "t";
    filters[5].resource_type = "t";
    filters[5].resource_id = "i";
    filters[6].resource_id = "i";
    for (const auto& filter : filters) {
        for (const bool after : {false, true}) {
            store_kit::EventList list{.filter = filter, .limit = 10};
            if (after) list.after = 7;
            const ListSql sql = EventListSql(list);
            ExpectIndexed(sql.text, sql.text.find("NOT INDEXED") != std::string::npos);
            list.filter.from = TimePoint{};
            list.filter.until = TimePoint{};
            const ListSql within = EventListSql(list, store_kit::SeqRange{});
            ExpectIndexed(within.text);
            EXPECT_FALSE(Sorts(within.text)) << within.text;
        }
    }
    ExpectIndexed(LedgerListSql({.job_id = "j", .limit = 1}).text);
    ExpectIndexed(LedgerListSql({.limit = 1}).text);
}

}  // namespace
}  // namespace ksana::store_sqlite

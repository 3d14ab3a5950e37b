#include "ksana/store_postgres/lists/index_use_fixture.hpp"

// Using an index is not enough if the planner takes the wrong one: these tests count the rows that
// lists read.

namespace ksana::store_postgres {
namespace {

using store_kit::Transaction;
using RowsReadTest = IndexUseTest;

// A filter that few jobs match, in an order of another index: only the matching jobs are read, and
// sorted.
TEST_F(RowsReadTest, FewJobsInAnotherOrder) {
    constexpr std::int64_t kMatching = 50;
    constexpr std::int64_t kMost = 3 * kMatching + 20;  // in an index and in each of two tables
    const std::vector<std::pair<std::string, store::JobFilter>> filters = {
        {"tenant", {.tenant = "acme"}},
        {"group", {.group = "g"}},
        {"owner", {.owner = "ann"}},
        {"type", {.type = "t"}},
        {"labels", {.labels = {{"a", "7"}}}}};
    for (const auto& [name, filter] : filters) {
        for (const auto sort : {store::JobSort::kName, store::JobSort::kNextRun,
                                store::JobSort::kLastRun, store::JobSort::kCreated}) {
            ExpectRead(
                kMost, fmt::format("{} by {}", name, model::NameOf(sort)),
                [&](Transaction& tx) -> Result<void> {
                    KSANA_TRY(
                        const auto jobs,
                        tx.ListJobs({.filter = filter, .sort = sort, .limit = 20, .look = 1000}));
                    EXPECT_EQ(jobs.rows.size(), name == "labels" ? 1U : 20U);
                    return {};
                });
        }
    }
}

// A list of a time span does not walk all events: it reads at most one block of 4096 and skips the
// blocks without events of the span.
TEST_F(RowsReadTest, EventsOfASpan) {
    schema_.Run(
        "INSERT INTO ksana.audit_events (at, tenant, action, user_name, resource_type, "
        "resource_id, old_object, new_object, data, client_ip, method) SELECT i, 'default', "
        "'a', 'u' || i % 500, 'job', 'j' || i % 1000, '', '', '', '', '' "
        "FROM generate_series(10001, 40000) i");
    schema_.Run("ANALYZE ksana.audit_events");
    constexpr std::int64_t kMost = 4096 + 100;
    const TimePoint early{Duration(100)};
    const TimePoint late{Duration(39'900)};
    const std::vector<std::pair<std::string, store::EventFilter>> filters = {
        {"until", {.until = early}},
        {"from", {.from = late}},
        {"both", {.from = early, .until = late}},
        {"action, until", {.action = "a", .until = early}},
        {"action, from", {.action = "a", .from = late}}};
    for (const auto& [name, filter] : filters) {
        for (const bool descending : {false, true}) {
            ExpectRead(kMost, name, [&](Transaction& tx) -> Result<void> {
                KSANA_TRY(const auto events,
                          tx.ListEvents({.filter = filter, .descending = descending, .limit = 10}));
                EXPECT_EQ(events.size(), 10U);
                return {};
            });
        }
    }
}

}  // namespace
}  // namespace ksana::store_postgres

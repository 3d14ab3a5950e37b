// Searches that end early find, over all pages, the same items as an unbounded search.
#include <algorithm>

#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::RunState;
using std::chrono::seconds;
using store::JobSort;
using store::RunSort;

constexpr std::size_t kLook = 7;

// Returns the ids of all pages and counts pages that ended early. Such a page may be short or
// empty, but not both empty and the last.
template <class Store, class Query>
std::vector<std::string> Walk(Store& store, Query query, std::size_t& early) {
    std::vector<std::string> ids;
    for (int pages = 0; pages < 1000; ++pages) {
        const auto page = store.List(query);
        if (!page) {
            ADD_FAILURE() << page.error().Describe();
            return ids;
        }
        EXPECT_LE(page->items.size(), query.limit);
        for (const auto& item : page->items) {
            if constexpr (std::is_same_v<decltype(item.id), Uuid>) {
                ids.push_back(item.id.ToString());
            } else {
                ids.push_back(item.id);
            }
        }
        early += page->ended_early ? 1 : 0;
        EXPECT_TRUE(!page->ended_early || !page->next.empty());
        if (page->next.empty()) return ids;
        query.cursor = page->next;
    }
    ADD_FAILURE() << "it does not end";
    return ids;
}

TEST_P(StoreTest, SearchesOfJobsThatEndEarlyMissNothing) {
    for (int i = 0; i < 60; ++i) {
        model::Job job = MakeJob("j" + std::to_string(i));
        job.name = i % 3 == 0 ? "report" : "n" + std::to_string(i % 7);
        job.group = i % 4 == 0 ? "default" : "g";
        job.owner = i % 5 == 0 ? "ann" : "";
        job.enabled = i % 6 != 0;
        job.labels = {{"team", std::to_string(i % 2)}, {"zone", std::to_string(i % 3)}};
        job.schedule.calendar = i % 9 == 0 ? "c" : "";
        job.state.next_run_at = now_ + seconds(i * 37 % 11);
        Create(job);
        if (i % 4 == 1) continue;  // the job has never run
        now_ += seconds(i % 3);
        SubmitOne(MakeFire(job, now_));
        Report(ClaimHttp().at(0),
               i % 3 == 0 ? model::EventKind::kSuccess : model::EventKind::kPermanentFailure,
               "shard " + std::to_string(i % 9));
    }
    const std::vector<store::JobFilter> filters = {{},
                                                   {.text = "REPORT"},
                                                   {.text = "zebra"},
                                                   {.name = "report", .owner = "ann"},
                                                   {.group = "g", .enabled = false},
                                                   {.owner = "ann", .text = "j1"},
                                                   {.calendar = "c"},
                                                   {.calendar = "c", .text = "REPORT"},
                                                   {.labels = {{"team", "1"}, {"zone", "2"}}},
                                                   {.enabled = false},
                                                   {.text = "SHARD 7"},
                                                   {.enabled = true, .text = "shard"},
                                                   {.last_state = RunState::kFailed}};
    std::size_t early = 0;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        for (std::size_t sort = 0; sort < model::kEnumCount<JobSort>; ++sort) {
            for (const bool descending : {false, true}) {
                store::JobQuery query{.filter = filters[i],
                                      .sort = static_cast<JobSort>(sort),
                                      .descending = descending,
                                      .limit = 5};
                std::size_t none = 0;
                const auto all = Walk(jobs(), query, none);
                EXPECT_EQ(none, 0U);
                query.look = kLook;
                EXPECT_EQ(Walk(jobs(), query, early), all) << i << " by " << sort << descending;
            }
        }
        const std::int64_t count = *jobs().Count(filters[i], 1000);
        const store::Counted some = *jobs().CountWithin(filters[i], {.most = 1000, .look = kLook});
        EXPECT_TRUE(some.complete ? some.count == count : some.count <= count) << i;
        const store::Counted most = *jobs().CountWithin(filters[i], {.most = 1000, .look = 1000});
        EXPECT_EQ(most, (store::Counted{.count = count, .complete = true})) << i;
    }
    EXPECT_EQ(early > 100, harness_->EndsEarly()) << early;
}

TEST_P(StoreTest, SearchesOfRunsThatEndEarlyMissNothing) {
    for (int i = 0; i < 60; ++i) {
        Run run = MakeRun("t" + std::to_string(i % 4));
        run.job_id = i % 3 == 0 ? "j" : "";
        run.category = i % 5 == 0 ? "bulk" : "";
        run.trigger = i % 7 == 0 ? model::RunTrigger::kManual : model::RunTrigger::kSubmitted;
        run.status.ready_at = now_ - seconds(i * 37 % 11);
        SubmitOne(run);
        if (i % 2 == 0) continue;
        now_ += seconds(i % 3);
        if (i % 5 < 3) {
            Apply(run.id, {.kind = model::EventKind::kCancel});
        } else {
            Report(ClaimOne(),
                   i % 4 == 3 ? model::EventKind::kSuccess : model::EventKind::kPermanentFailure,
                   "shard " + std::to_string(i % 9) + " is down");
        }
    }
    const auto failed = model::SetOf(RunState::kFailed);
    const std::vector<store::RunFilter> filters = {
        {},
        {.text = "SHARD 8"},
        {.text = "zebra"},
        {.owner = "nobody"},
        {.trigger = model::RunTrigger::kManual},
        {.kind = model::ActionKind::kCommand},
        {.states = failed, .text = "down"},
        {.states = static_cast<model::RunStates>(failed | model::SetOf(RunState::kQueued)),
         .type = "t3"},
        {.job_id = "j", .category = "bulk"},
        {.finished_from = now_ - seconds(20), .finished_until = now_ - seconds(5)}};
    std::size_t early = 0;
    for (std::size_t i = 0; i < filters.size(); ++i) {
        for (const auto sort : {RunSort::kId, RunSort::kReady, RunSort::kFinished}) {
            for (const bool descending : {false, true}) {
                store::RunQuery query{
                    .filter = filters[i], .sort = sort, .descending = descending, .limit = 5};
                std::size_t none = 0;
                const auto all = Walk(runs(), query, none);
                EXPECT_EQ(none, 0U);
                query.look = kLook;
                EXPECT_EQ(Walk(runs(), query, early), all)
                    << i << " by " << model::NameOf(sort) << descending;
            }
        }
        const std::int64_t count = *runs().Count(filters[i], 1000);
        const store::Counted some = *runs().CountWithin(filters[i], {.most = 1000, .look = kLook});
        EXPECT_TRUE(some.complete ? some.count == count : some.count <= count) << i;
        const store::Counted most = *runs().CountWithin(filters[i], {.most = 1000, .look = 1000});
        EXPECT_EQ(most, (store::Counted{.count = count, .complete = true})) << i;
    }
    EXPECT_EQ(early > 50, harness_->EndsEarly()) << early;
}

}  // namespace
}  // namespace ksana::conformance

#include <algorithm>
#include <map>

#include "conformance/store_fixture.hpp"

// The runs of one job, in every order and with every outcome. A driver may keep runs that have just
// ended elsewhere than the others.

namespace ksana::conformance {

using model::EventKind;
using model::RunState;
using store::RunSort;

namespace {

// Two jobs with interleaved runs, and the expected content of the store for the first job.
class JobRuns {
  public:
    explicit JobRuns(store::Store& store, TimePoint now) : store_(&store), now_(now) {
        for (const char* id : {"j1", "j2"}) Create(id);
    }

    void Reopened(store::Store& store) { store_ = &store; }

    void Create(const std::string& id) {
        model::Job job;
        job.id = id;
        job.name = id;
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(1);
        job.overlap = model::OverlapPolicy::kAllow;
        const auto written = store_->jobs().Write(
            {.now = now_,
             .writes = {{.job = job, .mode = store::WriteMode::kCreate, .expected_version = {}}}});
        ASSERT_TRUE(written && written->at(0));
    }
    void Delete() {
        ASSERT_TRUE(
            store_->jobs().Delete({.now = now_, .id = kJob, .expected_version = {}, .audit = {}}));
    }

    // Submits one run of each job.
    void Begin() {
        now_ += std::chrono::seconds(1);
        std::vector<model::Run> runs(2);
        for (model::Run& run : runs) {
            run.job_id = &run == runs.data() ? kJob : "j2";
            run.kind = model::ActionKind::kHttp;
            run.trigger = model::RunTrigger::kFire;
            run.nominal_at = now_;
            run.status.ready_at = now_;
            run.policy.need_manual = random_.Below(3) == 0;
        }
        const auto made = store_->runs().Submit({.now = now_, .runs = std::move(runs)});
        ASSERT_TRUE(made) << made.error().Describe();
        known_.push_back({.id = made->at(0).id, .state = RunState::kQueued, .finished_at = {}});
    }

    void Start(std::size_t count) {
        auto claimed = store_->runs().Claim({.filter = {.kind = model::ActionKind::kHttp},
                                             .owner = "w",
                                             .lease = std::chrono::hours(1),
                                             .limit = count},
                                            now_);
        ASSERT_TRUE(claimed) << claimed.error().Describe();
        for (model::Run& run : claimed->runs) under_way_.push_back(std::move(run));
    }

    // Ends the runs that started last first, most of them with success.
    void End(std::size_t count) {
        now_ += std::chrono::seconds(1);
        std::vector<model::RunEvent> events;
        for (; count > 0 && !under_way_.empty(); --count) {
            const model::Run run = std::move(under_way_.back());
            under_way_.pop_back();
            const bool well = random_.Below(4) > 0;
            events.push_back({run.id,
                              {.kind = well ? EventKind::kSuccess : EventKind::kPermanentFailure,
                               .exec_id = run.status.exec_id}});
            if (!well && run.policy.need_manual) {
                held_.push_back(run.id);
            } else {
                Note(run.id, well ? RunState::kSucceeded : RunState::kFailed);
            }
        }
        const auto applied = store_->runs().Apply(std::move(events), now_);
        ASSERT_TRUE(applied) << applied.error().Describe();
    }

    // A held run ended for its job when it was held, and becomes final now.
    void ResolveHeld() {
        now_ += std::chrono::seconds(1);
        std::vector<model::RunEvent> events;
        for (const Uuid& id : held_) {
            events.push_back({id, {.kind = EventKind::kResolve, .remark = "by hand"}});
            Note(id, RunState::kResolved);
        }
        held_.clear();
        const auto applied = store_->runs().Apply(std::move(events), now_);
        ASSERT_TRUE(applied) << applied.error().Describe();
    }

    void DeleteOne() {
        std::vector<Uuid> ended;
        for (const Known& run : known_) {
            if (run.finished_at) ended.push_back(run.id);
        }
        if (ended.empty()) return;
        const Uuid id = ended[random_.Below(ended.size())];
        ASSERT_TRUE(store_->runs().Delete({.now = now_, .id = id, .audit = {}}));
        std::erase_if(known_, [&](const Known& run) { return run.id == id; });
    }

    void PurgeOlderThan(Duration age) {
        const TimePoint before = now_ - age;
        ASSERT_TRUE(store_->runs().Purge({.finished_before = before}));
        std::erase_if(
            known_, [&](const Known& run) { return run.finished_at && *run.finished_at < before; });
    }

    // Compares every list of the job with the expected runs.
    void Check() {
        const auto by_end = [](const Known& run) { return std::pair(run.finished_at, run.id); };
        ExpectListed({}, Expected(false, &Known::id));
        ExpectListed({.sort = RunSort::kFinished}, Expected(true, by_end));
        const model::RunStates ends = model::SetOf(RunState::kSucceeded) |
                                      model::SetOf(RunState::kFailed) |
                                      model::SetOf(RunState::kResolved);
        ExpectListed({.filter = {.states = ends}}, Expected(true, &Known::id));
        const auto count = store_->runs().Count({.job_id = kJob}, 10'000);
        ASSERT_TRUE(count) << count.error().Describe();
        EXPECT_EQ(*count, static_cast<std::int64_t>(known_.size()));
        CheckStatistics();
    }

  private:
    static constexpr const char* kJob = "j1";

    struct Known {
        Uuid id;
        RunState state = RunState::kQueued;
        std::optional<TimePoint> finished_at;
    };

    void Note(const Uuid& id, RunState state) {
        const auto found = std::ranges::find(known_, id, &Known::id);
        if (found == known_.end()) return;  // a run of the second job
        found->state = state;
        found->finished_at = now_;
    }

    template <class Key>
    std::vector<Uuid> Expected(bool ended_only, const Key& key) const {
        std::vector<Known> sorted;
        for (const Known& run : known_) {
            if (!ended_only || run.finished_at) sorted.push_back(run);
        }
        std::ranges::sort(sorted, {}, key);
        std::vector<Uuid> ids;
        for (const Known& run : sorted) ids.push_back(run.id);
        return ids;
    }

    // Checks both directions, page by page.
    void ExpectListed(store::RunQuery query, std::vector<Uuid> expected) {
        query.filter.job_id = kJob;
        query.limit = 7;
        for (const bool descending : {false, true}) {
            query.descending = descending;
            EXPECT_EQ(Listed(query), expected);
            std::ranges::reverse(expected);
        }
    }
    std::vector<Uuid> Listed(store::RunQuery query) {
        std::vector<Uuid> ids;
        do {
            auto page = store_->runs().List(query);
            EXPECT_TRUE(page) << page.error().Describe();
            if (!page) return ids;
            for (const model::Run& run : page->items) ids.push_back(run.id);
            query.cursor = page->next;
        } while (!query.cursor.empty());
        return ids;
    }

    void CheckStatistics() {
        const auto found = store_->jobs().Statistics({.job_id = kJob, .from = {}, .until = {}});
        ASSERT_TRUE(found) << found.error().Describe();
        std::map<RunState, std::int64_t> counts;
        for (const Known& run : known_) ++counts[run.state];
        EXPECT_EQ(found->succeeded, counts[RunState::kSucceeded]);
        EXPECT_EQ(found->failed, counts[RunState::kFailed] + counts[RunState::kResolved]);
    }

    store::Store* store_;
    TimePoint now_;
    SeededRandom random_{11};
    std::vector<Known> known_;
    std::vector<model::Run> under_way_;
    std::vector<Uuid> held_;
};

}  // namespace

TEST_P(StoreTest, RunsOfAJobAreListedWhateverBecomesOfThem) {
    JobRuns runs(store(), now_);
    for (int i = 0; i < 150; ++i) {
        runs.Begin();
        if (i % 3 == 2) runs.Start(6);
        if (i % 3 == 2) runs.End(5);
        if (i % 7 == 6) runs.DeleteOne();
        if (i % 5 == 4) runs.ResolveHeld();
        if (i % 50 == 49) runs.PurgeOlderThan(std::chrono::seconds(60));
        if (i % 10 == 9) runs.Check();
    }
    if (harness_->Reopen()) {
        runs.Reopened(store());
        runs.Check();
    }
    // No run is left, and none reappears.
    runs.Start(1000);
    runs.End(1000);
    runs.ResolveHeld();
    runs.PurgeOlderThan(-std::chrono::seconds(1));
    if (harness_->Reopen()) runs.Reopened(store());
    for (int i = 0; i < 4; ++i) runs.Begin();
    runs.Start(4);
    runs.End(4);
    runs.Check();
}

TEST_P(StoreTest, RunsStayInTheListsWhenTheirJobGoes) {
    JobRuns runs(store(), now_);
    for (int i = 0; i < 30; ++i) runs.Begin();
    runs.Start(60);
    runs.End(40);
    runs.Delete();
    runs.Check();
    runs.End(20);
    runs.ResolveHeld();
    runs.Check();
    // Another job with the same id has the remaining runs in its lists.
    runs.Create("j1");
    runs.Begin();
    runs.Start(2);
    runs.End(2);
    runs.Check();
    for (int i = 0; i < 10; ++i) runs.DeleteOne();
    runs.Check();
}

}  // namespace ksana::conformance
